"""One file a check: what should be so, why, how it is seen, and how it is put right."""
