"""`fabriscope verify`: is a run what was measured, and is a report what the run says?"""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from pathlib import Path

import click

from fabriscope.cli import _usage

EXIT_CHANGED = 13


@click.command("verify")
@click.argument("run", type=_usage.PATH)
@click.argument("report", type=_usage.PATH, required=False)
@click.option("--digest", metavar="DIGEST", help="that a report states: RUN must be the run of which it was made")
@click.option("--json", "as_json", is_flag=True, help="the same as JSON")
def verify(run: Path, report: Path | None, digest: str | None, as_json: bool) -> None:
    """Compute every number of RUN's reports again from its samples, and find whatever was changed.

    REPORT is a file or a folder that `fabriscope report` wrote; without it the reports in RUN/report are compared. Ends
    with status 13 if anything differs, naming the file and the place in it.
    """
    from fabriscope.model.errors import printable
    from fabriscope.running.verify import verify as check

    if digest is not None:
        digest = digest.strip().lower()
        if not re.fullmatch("[0-9a-f]{64}", digest):
            raise click.UsageError("--digest is not a digest: 64 hexadecimal digits, as a report states them")
    account = check(run, report, digest)
    if as_json:
        click.echo(json.dumps({"is_as_written": not account.findings, **asdict(account)}, indent=1))
    else:
        for finding in account.findings:
            click.echo(printable(finding.sentence()))
        for words in account.checked:
            click.echo(f"compared: {printable(words)}")
        for words in account.notes:
            click.echo(f"note: {printable(words)}")
        count = len(account.findings)
        found = "1 place differs" if count == 1 else f"{count} places differ"
        click.echo(found if count else "nothing was changed")
    if account.findings:
        raise click.exceptions.Exit(EXIT_CHANGED)


COMMAND = verify
