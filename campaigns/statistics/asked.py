"""What a benchmark of made-up runs is asked on its command line."""

from __future__ import annotations

import argparse

import numpy as np


def asked(about: str | None, *, runs: int = 1000) -> tuple[int, np.random.Generator]:
    """Return how many runs to make up, and where their noise comes from; `about` is the program's own description."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=runs)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    if arguments.runs < 1:
        parser.error("--runs: at least 1")
    return arguments.runs, np.random.default_rng(arguments.seed)
