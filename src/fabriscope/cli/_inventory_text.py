"""An inventory as text for a terminal, as Markdown, CSV and JSON; and one that was stored, read back."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path

from fabriscope.audit.inventory import UNKNOWN, Change, Inventory, Line, value_text
from fabriscope.model import plain_files
from fabriscope.model.counting import counted
from fabriscope.model.errors import StoreError, printable
from fabriscope.model.foreign import Foreign
from fabriscope.model.host import Fact, HostFacts
from fabriscope.model.host_lists import folded

MOST_CHARACTERS = 100
_SYSTEM = "device.system"
"""The fact that devices have, and hosts have not."""
MOST_BYTES = 256 << 20


def earlier(path: Path) -> Mapping[str, HostFacts]:
    """Return the hosts of a run, or of a file that `--format json` printed; raises StoreError, also for none."""
    hosts = _hosts_in(path)
    if not hosts:
        fix = "name a run that measured, or what `fabriscope inventory --format json` printed"
        raise StoreError("it tells of no host, so nothing can have changed since", where=str(path), fix=fix)
    return hosts


def _hosts_in(path: Path) -> Mapping[str, HostFacts]:
    if path.is_dir():
        from fabriscope import store

        return store.open_run(path).read().manifest.hosts
    try:
        text = plain_files.read(path, MOST_BYTES)
    except OSError as error:
        raise StoreError(f"it cannot be read: {plain_files.why(error)}", where=str(path)) from error
    hosts = Foreign.json(text, str(path), error=StoreError).at("hosts")
    return {name: HostFacts(tuple(_facts(one))) for name, one in hosts.members()}


def _facts(part: Foreign) -> Iterable[Fact]:
    for name, one in part.members():
        value, why = one.at("value").value, one.get("unknown_because")
        if not (value is None or isinstance(value, str | int | float | bool)):
            raise one.at("value").refuse("a text, a number, true, false or null")
        yield Fact(name, value, None if why is None else why.text())


def shown(
    form: str, known: Inventory, changed: Sequence[Change] | None, problems: Mapping[str, str], *, is_whole: bool
) -> str:
    """Return an inventory in one of the forms that the command offers."""
    if form == "markdown":
        return as_markdown(known, changed)
    if form == "csv":
        return as_csv(known)
    return as_json(known, changed, problems) if form == "json" else as_text(known, changed, is_whole=is_whole)


def as_text(known: Inventory, changed: Sequence[Change] | None, *, is_whole: bool) -> str:
    """Return facts by group: the usual value, and below it the hosts that have another one."""
    if not known.hosts:
        return "there is no host and no device to tell of\n"
    devices = [name for name, told in known.hosts.items() if _SYSTEM in told.values]
    hosts = [name for name in known.hosts if name not in devices]
    kinds = ((hosts, "host"), (devices, "device"))
    lines = [f"{counted(len(names), what)}: {folded(names)}" for names, what in kinds if names]
    if len(known.kinds) > 1:
        lines += [f"  kind {at}: {folded(group)}" for at, group in enumerate(known.kinds, start=1)]
    rows = [line for line in known.lines if is_whole or any(not _is_unknown(cell) for cell in line.cells)]
    width = max((len(line.fact.partition(".")[2]) for line in rows), default=0)
    order = list(dict.fromkeys(line.fact.partition(".")[0] for line in rows))
    rows.sort(key=lambda line: order.index(line.fact.partition(".")[0]))
    for group, of_group in groupby(rows, key=lambda line: line.fact.partition(".")[0]):
        lines += ["", group]
        for line in of_group:
            lines += _text_rows(known, line, width)
    left_out = len(known.lines) - len(rows)
    if left_out:
        lines += ["", f"{left_out} facts that no host could tell are left out; --all shows them and why"]
    lines += ["", *_changes(changed)] if changed is not None else []
    count = len({one.fact for one in known.differing})
    lines += [
        "",
        f"{count} {'fact differs' if count == 1 else 'facts differ'} between hosts that should be alike"
        if count
        else "no fact differs",
    ]
    return "\n".join(map(printable, lines)) + "\n"


def _is_unknown(cell: str) -> bool:
    return not cell or cell.startswith(UNKNOWN)


def _text_rows(known: Inventory, line: Line, width: int) -> list[str]:
    """Return the most frequent value, and one row for each other value with its hosts."""
    by_value: dict[str, list[str]] = {}
    for host, cell in zip(known.hosts, line.cells, strict=True):
        if cell:
            by_value.setdefault(cell, []).append(host)
    ordered = sorted(by_value.items(), key=lambda item: -len(item[1]))
    rows = []
    for at, (value, hosts) in enumerate(ordered):
        mark = "!" if set(hosts) & set(line.odd) else " "
        name = line.fact.partition(".")[2] if at == 0 else ""
        where = f"  ({folded(hosts)})" if len(hosts) < len(known.hosts) else ""
        rows.append(f"{mark} {name:{width}}  {_short(value)}{where}")
    return rows


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MOST_CHARACTERS else f"{line[:MOST_CHARACTERS]}..."


def _changes(changed: Sequence[Change]) -> list[str]:
    if not changed:
        return ["nothing changed"]
    grouped: dict[tuple[str, str, str], list[str]] = {}
    for one in changed:
        grouped.setdefault((one.fact, value_text(one.was), value_text(one.now)), []).append(one.host)
    rows = [f"  {fact}: {_short(was)} became {_short(now)} ({folded(hosts)})"
            for (fact, was, now), hosts in grouped.items()]  # fmt: skip
    return [f"{len(grouped)} {'change' if len(grouped) == 1 else 'changes'}", *rows]


def as_markdown(known: Inventory, changed: Sequence[Change] | None) -> str:
    """Return a table with a column for each host; what differs between hosts that should be alike is bold."""
    lines = [f"| fact | {' | '.join(map(_cell, known.hosts))} |", "|---" * (len(known.hosts) + 1) + "|"]
    for line in known.lines:
        cells = [
            f"**{_cell(cell)}**" if host in line.odd else _cell(cell)
            for host, cell in zip(known.hosts, line.cells, strict=True)
        ]
        lines.append(f"| {_cell(line.fact)} | {' | '.join(cells)} |")
    if changed is not None:
        lines += ["", *_changes(changed)[:1], "", "| host | fact | was | is |", "|---|---|---|---|"]
        lines += [
            f"| {_cell(one.host)} | {_cell(one.fact)} | {_cell(value_text(one.was))} | {_cell(value_text(one.now))} |"
            for one in changed
        ]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    """Return a text that ends no cell and makes no markup of a table."""
    line = printable(" ".join(text.split()))
    return "".join(f"\\{one}" if one in r"\|*_`<>[]" else one for one in line)


def as_csv(known: Inventory) -> str:
    """Return a row for each fact, with a column for each host and one that names those that differ."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["fact", *known.hosts, "differing"])
    for line in known.lines:
        cells = [printable(cell) for cell in line.cells]
        odd = folded(line.odd) if line.odd else ""
        # A spreadsheet would run a cell that begins so.
        writer.writerow(
            [f"'{one}" if one.startswith(("=", "+", "-", "@")) else one for one in (line.fact, *cells, odd)]
        )
    return out.getvalue()


def as_json(known: Inventory, changed: Sequence[Change] | None, problems: Mapping[str, str]) -> str:
    """Return one object: hosts with their facts, what differs, what changed, who could not be asked."""
    hosts = {
        name: {fact.name: {"value": fact.value, "unknown_because": fact.unknown_because} for fact in one.facts}
        for name, one in known.hosts.items()
    }
    differing = [
        {"fact": one.fact, "values": [{"value": of.value, "hosts": list(of.hosts)} for of in one.values]}
        for one in known.differing
    ]
    whole: dict[str, object] = {"hosts": hosts, "differing": differing, "problems": dict(problems)}
    if changed is not None:
        whole["changes"] = [{"host": one.host, "fact": one.fact, "was": one.was, "is": one.now} for one in changed]
    return json.dumps(whole, indent=1, allow_nan=False) + "\n"
