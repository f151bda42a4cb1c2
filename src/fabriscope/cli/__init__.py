"""The command line: one file a command, found by the registry."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

import click

from fabriscope import __version__, bug_log
from fabriscope.cli import _loudness, _streams, _usage
from fabriscope.model import endings, surroundings
from fabriscope.model.errors import FabriscopeError, StoreError
from fabriscope.registry import discover

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 110}
EXIT_FAILED = 1
EXIT_INTERRUPTED = 130
_AGAIN_S = 0.01
"""By then Python is where it can raise what it could not."""
_COMPLETION = "_FABRISCOPE_COMPLETE"
_PLUGINS = "fabriscope.cli.plugins"
"""Where the context of one invocation keeps its commands."""


class Commands(_usage.Group):
    """The commands of the folder `cli`, of entry points, and of the user's plug-in folders."""

    def invoke(self, ctx: click.Context) -> object:
        """Run a command, or its help, where the process has what our libraries need."""
        surroundings.check()
        _loudness.begin()
        return super().invoke(ctx)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command, which begins now: from here on Ctrl-C is a KeyboardInterrupt."""
        resolved = super().resolve_command(ctx, args)
        endings.begun()
        return resolved

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return all names, in the order of the alphabet."""
        return sorted(self._plugins(ctx))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of that name, or None."""
        return self._plugins(ctx).get(cmd_name)

    def _plugins(self, ctx: click.Context) -> dict[str, click.Command]:
        """Return the commands by name, discovered once an invocation: the entry points alone take milliseconds."""
        if _PLUGINS not in ctx.meta:
            found = discover("cli", "COMMAND").plugins
            ctx.meta[_PLUGINS] = {name: _loudness.give(command) for name, command in found.items()}
        plugins: dict[str, click.Command] = ctx.meta[_PLUGINS]
        return plugins


@click.group(cls=Commands, context_settings=CONTEXT)
@click.version_option(__version__, prog_name="fabriscope")
def fabriscope() -> None:
    """Which interconnect is better, for what, by how much -- and can the answer be defended?

    \b
    Start with:  fabriscope doctor                 what works on this machine
                 fabriscope quick                  an answer without a plan
                 fabriscope plan check PLAN.yaml   what a plan would do, and how long it takes
                 fabriscope run PLAN.yaml          measure
                 fabriscope report RUN             one HTML file to read
                 fabriscope verify RUN             is it all as it was measured
                 fabriscope prove -- COMMAND       what carries the bytes of any program
                 fabriscope restore                put back what a crash left changed on hosts

    Exit codes: 0 done, 1 failed, 2 wrong plan or usage, 3 and 4 refuted and undecided (prove), 5 host or lab,
    6 a launch or an output, 7 a program is missing, 8 run folder, 10 done but some measurements failed, 11 and 12 a
    comparison failed, 13 something was changed after it was written, 130 interrupted.
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; ends the process with one sentence and the documented status on errors."""
    threading.excepthook = _thread_ended
    sys.unraisablehook = _passed_by
    _streams.open_all()
    try:
        _refuse_removed_folder()
        _refuse_lost_completion()
        # click hands back, and does not raise, the status that a command ended with by its `Exit`.
        status = fabriscope.main(args=arguments, prog_name="fabriscope", standalone_mode=False)
        if isinstance(status, int):
            sys.exit(status)
        sys.stdout.flush()
    except click.ClickException as error:
        _end(error.exit_code, error.show)
    except (click.Abort, KeyboardInterrupt):
        _end(EXIT_INTERRUPTED, lambda: click.echo("interrupted", err=True))
    except FabriscopeError as error:
        _end_with(error.exit_code, str(error))
    except _streams.OutputFailed as error:
        _end_with(StoreError.exit_code, error.sentence())
    except OSError as error:  # of the machine, not of ours: the disk is full, a file may not be read
        where = f"{error.filename}: " if error.filename is not None else ""
        log = bug_log.keep(error, "a command ran")
        _end_with(EXIT_FAILED, f"{where}{error.strerror or error}{f' -- its log is {log}' if log else ''}")
    except SystemExit as error:
        if not isinstance(error.code, int):
            raise
        _end(error.code)
    except BaseException as error:  # the last border: a traceback goes into a log, and never to the user
        if isinstance(error, bug_log.PASSED_BY):
            raise
        _end_with(EXIT_FAILED, bug_log.report(error, "a command ran"))


def _end_with(status: int, sentence: str) -> NoReturn:
    """End the process with a sentence for the user."""
    _end(status, lambda: _streams.say(sentence, is_told=True))


def _end(status: int, say: Callable[[], object] | None = None) -> NoReturn:
    """End the process with this status, whether or not anybody can be told why.

    What is still to be written is given up: Python would try again, and end with a status of its own.
    """
    with contextlib.suppress(OSError):
        if say is not None:
            say()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError) as error:
            with contextlib.suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
            if isinstance(error, _streams.OutputFailed) and not status:
                status = StoreError.exit_code
                click.echo(f"fabriscope: {error.sentence()}", err=True)
    sys.exit(status)


def _refuse_removed_folder() -> None:
    """Raise FabriscopeError where we were started in a folder that is no more: no path leads anywhere there."""
    try:
        Path.cwd()
    except OSError as error:
        what = f"the current folder cannot be used: {error.strerror}"
        raise FabriscopeError(what, fix="change into another one") from error


def _refuse_lost_completion() -> None:
    """Raise FabriscopeError where we are to complete a line that no shell gives: the variable was left set."""
    shell, _, rest = os.environ.get(_COMPLETION, "").partition("_")
    line, word = (os.environ.get(name) for name in ("COMP_WORDS", "COMP_CWORD"))
    is_given = line is not None and word is not None and (shell == "fish" or re.fullmatch("[0-9]{1,9}", word))
    if rest == "complete" and not is_given:
        what = f"{_COMPLETION} is set, by which shells have a line completed, and there is no line"
        raise FabriscopeError(what, fix=f"`unset {_COMPLETION}`; docs/shell.md says how completion is switched on")


def _passed_by(about: sys.UnraisableHookArgs) -> None:
    """Let a Ctrl-C that came where Python can raise nothing, in a destructor or a callback, come again."""
    if isinstance(about.exc_value, KeyboardInterrupt):
        again = threading.Timer(_AGAIN_S, os.kill, (os.getpid(), signal.SIGINT))
        again.daemon = True
        again.start()
    else:
        sys.__unraisablehook__(about)


def _thread_ended(about: threading.ExceptHookArgs) -> None:
    """Say that a thread ended by an error, as any other error is said."""
    if about.exc_value is not None and not isinstance(about.exc_value, SystemExit):
        name = about.thread.name if about.thread else "a thread"
        _streams.say(bug_log.report(about.exc_value, f"{name} ran"), is_told=True)
