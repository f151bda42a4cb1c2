# ruff: noqa: SIM115
# mypy: ignore-errors
# How a program on a host is told what to do. Plain Python 3.6, sent as text.
import json
import os
import sys


def read_order():
    """Return the line of JSON on standard input, and the body that follows it; takes no byte beyond."""
    order = json.loads(open(0, "rb", 0, closefd=False).readline().decode())
    parts, missing = [], order["body_bytes"]
    while missing:
        part = os.read(0, min(missing, 1 << 20))
        if not part:
            sys.exit("the order is not whole")
        parts.append(part)
        missing -= len(part)
    return order, b"".join(parts)


def reason_of(error):
    """Return an error of the system as words."""
    return error.strerror or str(error)
