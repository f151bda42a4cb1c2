"""How many there are of something, in words."""

from __future__ import annotations


def counted(count: int, one: str, several: str | None = None) -> str:
    """Return `1 launch`, `2 launches`; `several` where it is not made by an s: `3 entries`."""
    usual = f"{one}es" if one.endswith(("ch", "sh", "s", "x")) else f"{one}s"
    return f"{count} {one if count == 1 else several or usual}"


def listed(names: list[str], joined_by: str = "and") -> str:
    """Return `a`, `a and b`, `a, b and c`."""
    return f" {joined_by} ".join([*([", ".join(names[:-1])] if len(names) > 1 else []), *names[-1:]])
