"""Switches and other things without Python: a folder of their saved outputs becomes the same facts whatever the system.

One file a system; the registry finds those that define `SYSTEM`. Pure functions of text; nothing is asked of a device.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fabriscope.devices import session
from fabriscope.devices.configuration import cut_off
from fabriscope.devices.system import Output, System, Told
from fabriscope.model import plain_files
from fabriscope.model.device import Device
from fabriscope.model.errors import HostError, ParseError
from fabriscope.registry import discover

__all__ = ["Configuration", "configurations", "of_folder", "of_texts", "systems"]

MOST_BYTES = 64 << 20


def systems() -> list[System]:
    """Return what is known of every system."""
    return list(discover("devices", "SYSTEM").plugins.values())


def of_folder(folder: Path) -> dict[str, Device]:
    """Return the devices of a folder by name: a folder in it for each, or one file (`leaf1.txt`).

    Raises HostError where there is no such folder or nothing in it is a device's.
    """
    return {name: of_texts(name, texts, problems) for name, (texts, problems) in _saved(folder).items()}


@dataclass(frozen=True)
class Configuration:
    """A running configuration; `flaw` says in a clause why what it lacks is not to be taken for missing."""

    text: str
    flaw: str = ""


def configurations(folder: Path) -> dict[str, Configuration]:
    """Return the running configurations that a folder has, by their devices' names; raises HostError as `of_folder`.

    One that is damaged is not among them: what it seems to lack may be what was cut.
    """
    known, found = systems(), dict[str, Configuration]()
    for name, (texts, _) in _saved(folder).items():
        for file, text in texts:
            pieces = [piece for _, piece in _pieces(text)]
            for at, piece in enumerate(pieces):
                claims = _claims(known, piece)
                if len(claims) == 1 and _is_whole(*claims[0], piece):
                    before = found.get(name)
                    flaw = _flaw(claims[0][0].last_line, piece, text if at == len(pieces) - 1 else "")
                    if before is not None and before.text != piece:
                        flaw = f"its folder has several running configurations that differ ({file} is one): leave one"
                    found[name] = Configuration(piece, flaw or (before.flaw if before else ""))
    return found


def _flaw(last_line: str, piece: str, file: str) -> str:
    """Return why a configuration may be cut; `file` is the text that ends with it, empty where others follow."""
    last = "" if piece.startswith(("{", "[")) else session.cleaned(file).rpartition("\n")[2].strip()
    if last not in ("", "!", "end") and not session.is_prompt(last):
        return f"its last line ({last[:60]!r}) has no end and may be cut: save it again, with a line feed at its end"
    lines = [line.strip() for line in piece.splitlines()]
    if f"no {last_line}" in lines and last_line not in lines:
        return f"it is cut off: its last line, `{last_line}`, is not there"
    if line := cut_off(piece):
        return f"it may be cut off: nothing follows `{line}`; save it again, up to `end`"
    return ""


def _is_whole(system: System, output: Output, piece: str) -> bool:
    """Return whether a text is a running configuration that can be read."""
    if output.command != system.configuration:
        return False
    try:
        output.read(piece, Told())
    except (ValueError, ParseError):
        return False
    return True


Saved = tuple[list[tuple[str, str]], list[str]]
"""Texts, each with the name of its file, and what could not be read."""


def _saved(folder: Path) -> dict[str, Saved]:
    """Return what a folder has of each device; raises HostError where there is no such folder or nothing in it."""
    if folder.is_file():
        fix = f"give the folder that holds it: --devices {folder.parent}"
        raise HostError("it is a file, and no folder of saved outputs", where=str(folder), fix=fix)
    try:
        entries = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError as error:
        raise HostError(f"it cannot be read: {plain_files.why(error)}", where=str(folder)) from error
    every: dict[str, list[Path]] = {}  # `leaf1.txt`, `leaf1.json` and `leaf1/` are of one device
    for entry in entries:
        paths = sorted(path for path in entry.rglob("*") if not path.is_dir()) if entry.is_dir() else [entry]
        every.setdefault(entry.name if entry.is_dir() else entry.stem, []).extend(paths)
    found = {name: _texts(paths) for name, paths in every.items()}
    if not found:
        fix = "save outputs as FOLDER/leaf1/show_interfaces.json; docs/inventory.md names the commands"
        raise HostError("there is nothing in it", where=str(folder), fix=fix)
    return found


def _texts(paths: Sequence[Path]) -> Saved:
    texts, problems = [], [] if paths else ["its folder has no file"]
    for path in paths:
        try:
            texts.append((path.name, plain_files.read(path, MOST_BYTES).decode("utf-8", "replace")))
        except OSError as error:
            problems.append(f"{path.name} cannot be read: {plain_files.why(error)}")
    return texts, problems


def of_texts(name: str, texts: Sequence[tuple[str, str]], known_problems: Sequence[str] = ()) -> Device:
    """Return a device out of texts, each with the name of its file; what is not understood is among its problems.

    A text that is damaged tells nothing, not even what stands before the damage.
    """
    known, told = systems(), Told()
    of_system: dict[str, int] = {}
    problems = list(known_problems)
    for file, text in texts:
        if len(names := session.hosts(session.cleaned(text))) > 1:
            problems.append(
                f"{file}: nothing of it is read, it has outputs of {' and '.join(names)}: save a file for each"
            )
        for command, piece in _pieces(text):
            claims = _claims(known, piece)
            if len({system.name for system, _ in claims}) != 1:
                what = "no known command's output" if not claims else "output that two systems have alike"
                problems.append(f"{file}{f' ({command})' if command else ''}: {what}")
                continue
            for system, output in claims:
                trial = told.with_source(f"`{command or output.command}` in {file}")
                try:
                    output.read(piece, trial)
                    problems += [f"{file}: {remark}" for remark in trial.remarks]
                    told = trial
                except (ValueError, ParseError) as error:
                    problems.append(f"{file} ({output.command}): {error}")
                of_system[system.name] = of_system.get(system.name, 0) + 1
    system_name = max(of_system, key=lambda one: of_system[one], default="unknown")
    if len(of_system) > 1:
        problems.append(f"its files are of several systems: {', '.join(sorted(of_system))}")
    return told.device(name, system_name, problems)


def _claims(known: Sequence[System], text: str) -> list[tuple[System, Output]]:
    """Return the outputs that a text may be, each with its system."""
    return [(one, output) for one in known for output in one.outputs if _is_it(output, text)]


def _is_it(output: Output, text: str) -> bool:
    try:
        return output.is_it(text)
    except (ValueError, ParseError):
        return False


def _pieces(text: str) -> Iterator[tuple[str, str]]:
    """Yield the outputs of a session, each with its command; none where they are of several devices."""
    text = session.cleaned(text)
    if len(session.hosts(text)) <= 1:
        yield from session.pieces(text)
