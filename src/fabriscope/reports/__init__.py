"""What a person reads: one file a format, each defines `REPORT`, an object with a name and `render`."""
