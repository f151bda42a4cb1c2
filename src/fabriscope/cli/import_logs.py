"""`fabriscope import`: logs of benchmark programs become a run folder."""

from __future__ import annotations

from pathlib import Path

import click

from fabriscope.cli import _streams
from fabriscope.model.counting import counted

EXIT_LEFT_OUT = 10
MOST_NAMED = 20
_PATH = click.Path(exists=True, readable=False, path_type=Path)


@click.command("import")
@click.argument("logs", metavar="LOG...", nargs=-1, required=True, type=_PATH)
@click.option(
    "-o", "--output", required=True, metavar="RUN", type=click.Path(path_type=Path), help="the new run folder"
)
@click.option(
    "--label", "told", metavar="NAME=VALUE,...", multiple=True, help="what the logs do not say, of all of them"
)
@click.option("--labels", "labels_file", metavar="FILE", type=_PATH, help="YAML: patterns of file names to labels")
def import_logs(logs: tuple[Path, ...], output: Path, told: tuple[str, ...], labels_file: Path | None) -> None:
    """Make a run folder of LOGs and folders of logs: show, report, compare and verify work on it.

    Labels that have a meaning: fabric, layer, mpi, placement (inter, intra), hosts (a+b), window, and of the fabric's
    wire rate (1Gb/s), delay (100us) and mtu. Any other one tells curves apart. A folder may hold labels.yaml. Each run
    in a file is a launch; what differs makes entries.

    \b
        fabriscope import logs/ -o runs/old --label mpi=openmpi
        fabriscope import roce.log -o runs/roce --label fabric=roce,placement=inter,window=64

    Exit code 10: something was left out, and the rest was imported. The run's plan.yaml names each, the terminal the
    first 20.
    """
    from fabriscope import store
    from fabriscope.analysis.results import results_of
    from fabriscope.analysis.values.known_traps import known_traps, sentences
    from fabriscope.running import importing, log_labels

    labels = log_labels.parse_labels(",".join(told)) if told else {}
    done = importing.run(logs, output, labels, labels_file)
    for sentence in done.left_out[:MOST_NAMED]:
        _streams.say(f"left out: {sentence}", is_told=True)
    if len(done.left_out) > MOST_NAMED:
        more = f"and {len(done.left_out) - MOST_NAMED} more; {done.all_named} names all, under left_out"
        click.echo(f"fabriscope: {more}", err=True)
    for sentence in done.noted[:MOST_NAMED]:
        _streams.say(f"look again: {sentence}", is_told=True)
    data = store.open_run(done.path).read()
    for sentence in sentences(known_traps(data, results_of(data).graded)):
        _streams.say(f"known trap {sentence}")
    _streams.say(
        f"{counted(done.launch_count, 'launch')} of {counted(done.file_count, 'file')} in {done.path}: "
        f"{'; '.join(done.entry_labels)}"
    )
    if done.left_out:
        raise SystemExit(EXIT_LEFT_OUT)


COMMAND = import_logs
