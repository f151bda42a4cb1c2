"""How wide lines are."""

from __future__ import annotations

UNWRAPPED = 10_000
"""Columns of what is no terminal: nothing is that long, so nothing is wrapped."""
