"""`fabriscope restore`: puts back what was changed of hosts, and removes what was made in services, after a crash."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import click

from fabriscope.cli import _killed, _streams

if TYPE_CHECKING:
    from fabriscope.hosts.access.journal import Entry
    from fabriscope.hosts.access.leftovers import Leftover

EXIT_PARTLY = 10


@click.command(name="restore")
@click.argument("names", nargs=-1, metavar="[CHANGE]...")
@click.option("--list", "is_list", is_flag=True, help="Name the changes that are not put back, and do nothing.")
@click.option("--dry-run", "is_dry", is_flag=True, help="Look at the hosts and say what would be done.")
@click.option("--forget", "is_forgotten", is_flag=True, help="Take the CHANGEs out of the journal as they stand.")
def restore(names: tuple[str, ...], is_list: bool, is_dry: bool, is_forgotten: bool) -> None:
    """Put settings of hosts back that fabriscope had changed when it was killed, and remove what it had left.

    \b
    fabriscope restore --list
    fabriscope restore                 everything that a crash has left
    fabriscope restore 1f0c52aa        this one, also if it is meant to stay

    Every change is in a journal before it is made, and normally undone on the host as soon as fabriscope ends, however
    it does. What somebody else has set meanwhile is left alone, and what a reboot undid is only crossed out. A folder
    in an HDFS or tables in an HBase that runs already stand there too, by a name drawn at random, before they are made.
    Labs of killed owners go as well, and temporary folders of launches that nobody uses any more.
    The exit code is 10 if something could not be put back or removed: it stays in the journal, and the line says why.
    """
    from fabriscope.hosts.access import changes, journal, leftovers

    if is_forgotten and not names:
        raise click.UsageError("--forget wants the names of changes, which --list tells")
    damaged: list[str] = []
    found = [entry for entry in journal.entries(damaged.append) if not names or entry.name in names]
    left = [entry for entry in leftovers.entries(damaged.append) if not names or entry.name in names]
    if unknown := sorted(set(names) - {entry.name for entry in found} - {entry.name for entry in left}):
        raise click.UsageError(f"the journal has no change {', '.join(unknown)}; --list tells those that it has")
    problem_count = len(damaged)
    if is_list or is_forgotten:
        every: list[Entry | Leftover] = [*found, *left]
        for entry in every:
            _streams.say(_listed(entry) if is_list else _forgotten(entry))
    else:
        for result in changes.restored(found, is_asked=bool(names), is_dry=is_dry):
            _streams.say(result.text)
            problem_count += result.is_problem
        problem_count += _removed(left, is_dry=is_dry)
    if not names:
        _killed.remove(is_list=is_list, is_dry=is_dry)
    for sentence in damaged:
        _streams.say(sentence, is_told=True)
    _end("" if found or left or damaged else "nothing is changed", problem_count)


def _end(said: str, problem_count: int) -> None:
    if said:
        click.echo(said)
    if problem_count:
        raise SystemExit(EXIT_PARTLY)


def _removed(left: list[Leftover], *, is_dry: bool) -> int:
    """Remove what is left in services, and return how often that failed."""
    from fabriscope import lab
    from fabriscope.launch import removing

    removals = []
    for removal in removing.removed(left, lab.is_of_gone_lab, is_dry=is_dry):
        _streams.say(removal.text)
        removals.append(removal)
    return sum(removal.is_problem for removal in removals)


def _listed(entry: Entry | Leftover) -> str:
    from fabriscope.hosts.access.journal import Entry
    from fabriscope.hosts.access.journal_files import brief

    with entry.held() as is_ours:
        if entry.machine != os.uname().nodename:
            state = f"{'changed' if isinstance(entry, Entry) else 'made'} from {entry.machine}"
        elif not is_ours:
            state = "held by a fabriscope that runs"
        else:
            state = "meant to stay" if isinstance(entry, Entry) and entry.is_kept else "left by a crash"
    made = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.made_unix_s))
    values = f": {brief(entry.old)} -> {brief(entry.change.new)}" if isinstance(entry, Entry) else ""
    return f"{entry.name}  {made}  {entry.where}{values}, {state}"


def _forgotten(entry: Entry | Leftover) -> str:
    with entry.held() as is_ours:
        if not is_ours:
            return f"{entry.where}: not forgotten, a fabriscope that runs holds it"
        entry.drop()
    return f"{entry.where}: forgotten, stays as it is"


COMMAND = restore
