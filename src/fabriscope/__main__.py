"""`python -m fabriscope`."""

from fabriscope.cli import main

main()
