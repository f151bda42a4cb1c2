"""Pictures of ours as SVG; cells of colour side by side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from markupsafe import Markup


def cells(rows: Iterable[Sequence[str | None]], side: int) -> Markup:
    """Return rows of colours as squares, one SVG path for each colour; None is left blank.

    `side` is that of a square. Nothing but numbers and the colours is in it.
    """
    paths: dict[str, list[str]] = {}
    width = height = 0
    for row, colours in enumerate(rows):
        width, height = max(width, len(colours) * side), (row + 1) * side
        for column, colour in enumerate(colours):
            if colour is not None:
                paths.setdefault(colour, []).append(f"M{column * side} {row * side}h{side}v{side}h-{side}z")
    drawn = "".join(f'<path fill="{colour}" d="{"".join(some)}"/>' for colour, some in paths.items())
    return svg(width, height, drawn)


def svg(width: int, height: int, drawn: str, looks: str = "") -> Markup:
    """Return a picture; what is drawn must be numbers, names of ours, and texts that were escaped."""
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    return Markup(f'<svg {size} role="img"{looks}>{drawn}</svg>')  # noqa: S704 - what it may be of is said above
