"""NCCL is told by which network its ranks find each other, and the host has it."""

from __future__ import annotations

from fabriscope.audit.check import Check, each
from fabriscope.audit.place import NothingThere, Place, Wrong

_VARIABLE = "NCCL_SOCKET_IFNAME"


def _judge(place: Place) -> Wrong | None:
    if not any(name.startswith("environment.NCCL_") for name in place.known.values):
        raise NothingThere
    names = [name.split(".", 1)[1].rpartition(".")[0] for name, value in place.known.values.items()
             if name.startswith("interface.") and name.endswith(".ipv4") and value]  # fmt: skip
    usable = [name for name in names if name != "lo" and not name.startswith("docker")]
    said = place.text_or(f"environment.{_VARIABLE}", "")
    seen = [place.witness(f"environment.{_VARIABLE}", f"echo ${_VARIABLE}")]
    if not said:
        what = f"{_VARIABLE} is not set, and {len(usable)} interfaces have an address"
        return Wrong(what, f"export {_VARIABLE}={usable[0]}", seen) if len(usable) > 1 else None
    if said.startswith("^") or any(_is_meant(one, name) for one in said.split(",") for name in names):
        return None
    fix = f"export {_VARIABLE}={usable[0] if usable else 'INTERFACE'}"
    return Wrong(f"{_VARIABLE} is {said}, and no interface with an address has such a name", fix, seen)


def _is_meant(word: str, name: str) -> bool:
    """Return whether a word names an interface: `=eth0` exactly, `eth` all that begin so."""
    return name == word[1:] if word.startswith("=") else name.startswith(word)


CHECK = Check(
    "nccl-socket-if",
    "warning",
    "NCCL is told by which network its ranks find each other, and the host has it",
    why="ranks meet on a slow or wrong network, or not at all",
    source="NCCL's guide, environment variables",
    look=each(r"environment\.variables", _judge),
)
