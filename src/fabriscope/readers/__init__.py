"""One program each: its text to a typed document. No reader knows a launch, a host or a plan.

A file here that defines `READER` is found by the registry; `base.py` says what a reader is.
"""
