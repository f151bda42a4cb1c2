"""One benchmark program each: its command line and its output.

A file here that defines `ADAPTER` is found by the registry; `base.py` says what an adapter is.
"""
