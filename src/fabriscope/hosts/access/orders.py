# mypy: ignore-errors
# How a program on a host is told what to do. Plain Python 3.6, sent as text.
import json
import os
import signal
import sys

# Whoever hears nothing for this long takes the other end for gone. An end that was killed need not close our standard
# input: Slurm keeps that of a step open whose srun is no more.
PATIENCE_S = 30


def read_order():
    """Return what standard input tells us to do, and the body that follows; takes no byte beyond."""
    order = json.loads(read_exactly(int(read_exactly(10))).decode())
    body = read_exactly(order["body_bytes"])
    signal.alarm(0)
    return order, body


def read_exactly(size):
    """Return this many bytes; silence ends us."""
    parts = []
    while size:
        signal.alarm(PATIENCE_S)
        part = os.read(0, min(size, 1 << 20))
        if not part:
            sys.exit("the order is not whole")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def told(order, body):
    """Return an order as standard input tells it."""
    text = json.dumps(order).encode()
    return b"%010d" % len(text) + text + body


def reason_of(error):
    """Return an error of the system as words."""
    return error.strerror or str(error)


def signals():
    """Return a pipe that can be read once a signal asks us to end: none interrupts us (schedulers send several)."""
    asked, tell = os.pipe()
    os.set_blocking(tell, False)
    signal.set_wakeup_fd(tell)
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    return asked
