"""`fabriscope prove`: what carries the bytes of any program."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabriscope.cli import _loudness, _usage
from fabriscope.model.errors import printable

if TYPE_CHECKING:
    from fabriscope.model.proof import Observed, Proof

EXIT_CODES = {"proved": 0, "refuted": 3, "undecided": 4}
EXIT_PROGRAM_FAILED = 1
APART = 100
"""Added to our exit codes under --pass-status: a program's own 3 is then its own."""
LEAST_INTERVAL_S, MOST_INTERVAL_S = 0.1, 3600
MOST_IDLE_S = 60
_NEEDS_EXPECT = "--fail-below is a share of what was expected: give --expect too"


@click.command(name="prove", context_settings={"ignore_unknown_options": False, "allow_interspersed_args": False})
@click.option(
    "--expect", "expected", default="", metavar="FABRIC",
    help="eth1, mlx5_0, 10.1.0.0/24, tcp, roce, ib, shm, or a fabric of the lab; without it: whatever carries.",
)  # fmt: skip
@click.option(
    "--hosts", metavar="LIST", help="As in node[1-4]  [default: those of the batch job, or that COMMAND names]."
)
@click.option("--lab", "lab_name", metavar="NAME", help="Watch a lab that stands; COMMAND runs on its first host.")
@click.option("--ssh", "ssh_words", metavar="WORDS", help="The ssh that reaches the hosts, e.g. 'ssh -F my_config'.")
@click.option("--interval", default="1s", metavar="TIME", help="From reading to reading.  [default: 1s]")
@click.option(
    "--idle",
    default="500ms",
    metavar="TIME",
    help="How long the hosts are measured without it first.  [default: 500ms]",
)
@click.option("--ask-library", is_flag=True, help="Let the MPI library or NCCL say what it uses, and compare.")
@click.option("--json", "json_path", metavar="FILE", help="Write the proof as JSON; - is standard output.")
@click.option("-o", "--output", type=_usage.PATH, help="Keep it in this folder, with a page.")
@click.option("--read", "kept", type=_usage.PATH, help="Judge again what was kept by --output.")
@click.option(
    "--fail-below",
    metavar="SHARE",
    help="End with 3 also where less than this share was on what was expected, e.g. 99.5%.",
)
@click.option(
    "--pass-status",
    is_flag=True,
    help="End with COMMAND's own status where that is not 0, else with 103 for 3 and 104 for 4.",
)
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
def COMMAND(command: tuple[str, ...], **options: Any) -> None:  # noqa: N802 - the registry's constant
    """Run COMMAND, and tell which interfaces, devices and transports carried its bytes.

    \b
    fabriscope prove -- mpirun -H node1,node2 ./app                      what carries it?
    fabriscope prove --expect eth1 --hosts node[1-4] -- ./job.sh         is it eth1, and nothing else?
    fabriscope prove --lab demo --expect gige -- mpirun -H node1,node2 ./app

    COMMAND's own input, output and errors are left alone; what we say goes to standard error. The exit code is
    0 if it is proved, 3 if it is refuted, 4 if it cannot be decided, and 1 if it is proved but COMMAND failed.
    """
    _check(command, options)
    least = _usage.share("--fail-below", options["fail_below"])
    if least is not None and not options["expected"] and options["kept"] is None:  # what was kept may have its own
        raise click.UsageError(_NEEDS_EXPECT)
    from fabriscope.running import prove

    observed = _observed(command, options) if options["kept"] is None else _kept(options["kept"])
    expected = options["expected"] or observed.expected
    if least is not None and not expected:
        raise click.UsageError(_NEEDS_EXPECT)
    proof = prove.judge(observed, expected)
    _say(observed, proof)
    _write(observed, proof, options)
    from fabriscope.analysis.proof import words as proof_words  # loaded while the hosts were watched

    too_little = "" if least is None else proof_words.too_little(proof, least)
    if too_little:
        click.echo(f"--fail-below: {too_little}", err=True)
    raise SystemExit(_status(observed, proof, passes=options["pass_status"], is_too_little=bool(too_little)))


def _check(command: tuple[str, ...], options: dict[str, Any]) -> None:
    from fabriscope.launch import ssh
    from fabriscope.model.host_lists import unfolded

    if (options["kept"] is None) == (not command):
        raise click.UsageError("give the command to run behind --, or --read FOLDER")
    if options["kept"] is not None:
        for name in ("hosts", "lab_name", "ssh_words"):
            if options[name] is not None:
                raise click.UsageError("--read judges what was kept: it watches no hosts")
    if options["lab_name"] is not None and options["ssh_words"] is not None:
        raise click.UsageError("--ssh is for real hosts; a lab's are reached without")
    if options["hosts"] is not None:
        with _usage.checked("--hosts"):
            unfolded(options["hosts"])
    if options["ssh_words"] is not None:
        with _usage.checked("--ssh"):
            ssh.split(options["ssh_words"])


def _check_writable(folder: Path | None, json_path: str | None) -> None:
    """Refuse before the program runs what could not be written after it."""
    if folder is None and json_path in (None, "-"):
        return
    from fabriscope.store import proofs  # a twentieth of a second, which every job would wait for

    if folder is not None:
        proofs.check_new(folder)
    if json_path not in (None, "-"):
        proofs.check_file(Path(json_path))


def _kept(folder: Path) -> Observed:
    from fabriscope.store import proofs

    return proofs.read(folder)


def _observed(command: tuple[str, ...], options: dict[str, Any]) -> Observed:
    from fabriscope.running import program_place, prove

    wish = prove.Wish(
        command,
        options["expected"],
        _usage.seconds("--interval", options["interval"], LEAST_INTERVAL_S, MOST_INTERVAL_S),
        _usage.seconds("--idle", options["idle"], 0, MOST_IDLE_S),
        options["ask_library"],
    )
    program_place.check(command)
    _check_writable(options["output"], options["json_path"])
    with _noticing() as notice:
        chosen = program_place.place(
            command, hosts=options["hosts"], lab_name=options["lab_name"], ssh_words=options["ssh_words"], notice=notice
        )
        with chosen as place:
            return prove.observe(place, wish, notice)


@contextlib.contextmanager
def _noticing() -> Iterator[Callable[[str], None]]:
    """Yield what shows in one line what is under way, and no more for an empty text; nobody but a terminal sees it."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    status = _loudness.status("")
    with status:
        yield lambda what: status.update(what) if what else status.stop()


def _say(observed: Observed, proof: Proof) -> None:
    """Tell the verdict on standard error."""
    from fabriscope.analysis.proof import words as proof_words

    rows = [("host", "carried by", "sent", "received", "share")]
    rows += [
        (one.host, one.carrier, one.sent, one.received, one.share) for one in proof_words.rows(proof.books.carriers)
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    sys.stdout.flush()
    if len(rows) > 1:
        for row in rows:
            cells = [
                text.ljust(width) if column < 2 else text.rjust(width)
                for column, (text, width) in enumerate(zip(row, widths, strict=True))
            ]
            click.echo(printable("  ".join(cells).rstrip()), err=True)
    colour = {"proved": "green", "refuted": "red"}.get(proof.books.verdict, "yellow")
    verdict, _, rest = proof_words.verdict_sentence(proof).partition(proof.books.verdict)
    coloured = click.style(proof.books.verdict, fg=colour, bold=True)
    click.echo(f"{printable(verdict)}{coloured}{printable(rest)}", err=True)
    said = [*proof_words.library_sentences(observed, proof), proof_words.ending_sentence(observed)]
    said.append(proof_words.grade_sentence(observed, proof))
    for line in filter(None, (*said, *proof_words.problems(observed.watches))):
        click.echo(printable(line), err=True)


def _write(observed: Observed, proof: Proof, options: dict[str, Any]) -> None:
    from fabriscope.running import prove

    if options["output"] is not None:
        page = prove.keep(observed, proof, options["output"])
        _loudness.remark(f"kept in {options['output']}; the page is {page}")
    if options["json_path"] == "-":
        click.echo(prove.json_text(observed, proof), nl=False)
    elif options["json_path"] is not None:
        from fabriscope.store import proofs

        path = Path(options["json_path"])
        with proofs.writing(path):
            path.write_text(prove.json_text(observed, proof))


def _status(observed: Observed, proof: Proof, *, passes: bool, is_too_little: bool) -> int:
    """Return the exit code; a program that was stopped by the user did not fail."""
    status = observed.exit_status
    if passes and status:
        return status if status > 0 else 128 - status
    code = EXIT_CODES[proof.books.verdict] or (EXIT_CODES["refuted"] if is_too_little else 0)
    if passes and code:
        return APART + code
    return EXIT_PROGRAM_FAILED if not code and status and not observed.was_signalled else code
