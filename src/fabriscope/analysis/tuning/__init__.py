"""Which settings make something faster: two-level designs, effects with intervals, and what is tried next."""
