"""What a value on the command line cannot be: a wrong command line, told before anything is begun."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import click


@contextlib.contextmanager
def checked(name: str = "") -> Iterator[None]:
    """Turn what a parser of ours refuses into click's error, with status 2; `name` is of the option it stands in."""
    from fabriscope.model.errors import FabriscopeError

    try:
        yield
    except (FabriscopeError, ValueError) as error:
        raise click.UsageError(f"{name}: {error}" if name else str(error)) from error


def seconds(name: str, text: str, least_s: float, most_s: float) -> float:
    """Return a duration that an option names, within a range; raises UsageError."""
    from fabriscope.model.units import parse_duration_ns

    with checked(name):
        value = parse_duration_ns(text) / 1e9
        if not least_s <= value <= most_s:
            raise ValueError(f"{text} is not from {least_s:g} to {most_s:g} s")
    return value


def share(name: str, text: str | None) -> float | None:
    """Return a share that an option names, None without it; raises UsageError."""
    from fabriscope.model.units import parse_share

    with checked(name):
        return None if text is None else parse_share(text)
