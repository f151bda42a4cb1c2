"""The sizes that a sweep of NetPIPE 3 visits: one that it does not is a changed digit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

_LEAST_ROWS = 6
"""Of a sweep that shows how it goes."""
_PERTURBATIONS = (0, 3)
"""What `-p` adds and takes away around each size: nothing, as ours are, and what it does by itself."""


def sweep(first: int, last: int, perturbation: int) -> Iterator[int]:
    """Yield the sizes of a sweep from one size (`-l`) to another, with those that a perturbation adds."""
    size, step, count = first, max(first // 2, 1), int(first > 1)
    while size - perturbation <= last:
        if count > 2 and count % 2:
            step *= 2
        is_perturbed = 0 < perturbation < step - 1
        yield from (size - perturbation, size, size + perturbation) if is_perturbed else (size,)
        size, count = size + step, count + 1


def stranger(sizes: Sequence[int]) -> tuple[int, str] | None:
    """Return the place of a size that alone does not belong to its sweep, and what is wrong with it."""
    if len(sizes) < _LEAST_ROWS:
        return None
    for perturbation in _PERTURBATIONS:
        for first in (sizes[0], sizes[0] + perturbation):
            visited = list(sweep(first, sizes[-1], perturbation))
            strange = [place for place, size in enumerate(sizes) if size not in visited]
            if not strange:
                return None
            if len(strange) == 1:
                (place,) = strange
                before, after = sizes[place - 1] if place else 0, (*sizes, visited[-1] + 1)[place + 1]
                there = " or ".join(f"{size} B" for size in visited if before < size < after)
                instead = f", which has {there} there" if there else ""
                return place, f"{sizes[place]} B is no size of its sweep{instead}"
    return None
