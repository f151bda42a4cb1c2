"""`fabriscope report`: from a run folder to something a person reads."""

from __future__ import annotations

from pathlib import Path

import click

from fabriscope.cli import _streams, _usage


def _formats() -> list[str]:
    from fabriscope.registry import discover

    return sorted(discover("reports", "REPORT").plugins)


@click.command("report")
@click.argument("run", type=_usage.PATH)
@click.option(
    "--format",
    "formats",
    type=_usage.Choice("format", _formats),
    multiple=True,
    default=("html",),
    show_default=True,
    help="html, csv, markdown, figures, or a plug-in's; may be given more than once",
)
@click.option(
    "--figure-format",
    "figure_formats",
    type=click.Choice(("png", "svg", "pdf")),
    multiple=True,
    default=("png", "svg", "pdf"),
    help="of the format figures; may be given more than once",
)
@click.option(
    "-o",
    "--output",
    "out",
    type=click.Path(path_type=Path, file_okay=False),
    default=None,
    help="folder to write into; default: RUN/report",
)
@click.option("--open", "show", is_flag=True, help="open the first file in the browser or viewer")
def report(run: Path, formats: tuple[str, ...], figure_formats: tuple[str, ...], out: Path | None, show: bool) -> None:
    """Write a report of RUN, a run folder; by default one HTML file that needs nothing else."""
    from fabriscope import store
    from fabriscope.model.errors import FabriscopeError, printable
    from fabriscope.registry import discover
    from fabriscope.reports.base import Options
    from fabriscope.running.evaluation import evaluating

    folder = out or run / "report"
    reports = discover("reports", "REPORT")
    options = Options(tuple(dict.fromkeys(figure_formats)))
    if out is None and folder.is_symlink():
        what = "it is a symbolic link, and a report is written through none"
        raise FabriscopeError(what, where=str(folder), fix="remove it, or name a folder with -o")
    store.refuse_part_of_run(folder)
    paths: list[Path] = []
    data = store.open_run(run).read()
    for note in data.notes:
        click.echo(printable(note), err=True)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in dict.fromkeys(formats):
            with evaluating(run):
                paths += reports.get(name).render(data, folder, options)
    except OSError as error:
        raise FabriscopeError(f"the report cannot be written: {error.strerror or error}", where=str(folder)) from error
    for path in paths:
        _streams.say_path(path)
    if show and paths:
        click.launch(str(paths[0]))


COMMAND = report
