"""How many blocks say something: what plans promise and verdicts are taken by."""

from __future__ import annotations

LEAST_BLOCKS = 3
"""Two blocks agree by chance too often: fewer than three decide nothing, and nobody looks before."""
