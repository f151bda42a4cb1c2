"""What a value on the command line cannot be: a wrong command line, told before anything is begun."""

from __future__ import annotations

import contextlib
import difflib
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabriscope.model.blocks import AUTO
from fabriscope.model.errors import FabriscopeError, shown

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class _AnyPath(click.Path):
    """A path that may or may not lead anywhere, but that the system can look at."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path, or fail where its name alone is impossible."""
        try:
            os.lstat(value)
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            pass  # who reads or makes it says so
        except (OSError, ValueError) as error:
            self.fail(f"{shown(str(value))}: {getattr(error, 'strerror', error)}", param, ctx)
        return super().convert(value, param, ctx)


PATH = _AnyPath(path_type=Path, readable=False)


def is_decimal(text: str) -> bool:
    """Return whether a text is a whole number as plans have it."""
    return re.fullmatch("0|-?[1-9][0-9]{0,17}", text) is not None


class Count(click.IntRange):
    """A whole number in decimal digits, as plans have it: `010`, `1_0` and digits of other scripts may mean another."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number, or fail."""
        if isinstance(value, str) and not is_decimal(value):
            self.fail(f"{shown(value)} is no whole number in decimal digits", param, ctx)
        return super().convert(value, param, ctx)


class Launches(Count):
    """How often each entry is launched: a whole number, or auto for one that the run chooses."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number or the word, or fail."""
        if value == AUTO:
            return value
        if isinstance(value, str) and not is_decimal(value):
            self.fail(f"{shown(value)} is neither auto nor a whole number in decimal digits", param, ctx)
        return super().convert(value, param, ctx)


class Choice(click.ParamType):  # type: ignore[type-arg]
    """One of some names that are asked for only when one is needed: every command reads every file of commands.

    (ParamType is generic in new versions of click only, hence the ignored argument.)
    """

    def __init__(self, name: str, names: Callable[[], Sequence[str]]) -> None:
        self.name = name
        self._names = names

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name, or fail with all names."""
        known = self._names()
        if value not in known:
            self.fail(f"{value!r} is not one of {', '.join(known)}", param, ctx)
        return value

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return those that begin so."""
        return click.Choice(self._names()).shell_complete(ctx, param, incomplete)


class Group(click.Group):
    """Commands of which a name that is none is answered with the one that was probably meant."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command, or fail."""
        known, name = self.list_commands(ctx), args[0]
        if not name.startswith("-") and name not in known and not ctx.resilient_parsing:
            near = difflib.get_close_matches(name, known, n=1)
            fix = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}."
            ctx.fail(f"No such command {shown(name)}: {fix}")
        return super().resolve_command(ctx, args)


@contextlib.contextmanager
def checked(name: str = "") -> Iterator[None]:
    """Turn what a parser of ours refuses into click's error, with status 2; `name` is of the option it stands in."""
    try:
        yield
    except (FabriscopeError, ValueError) as error:
        raise click.UsageError(f"{name}: {error}" if name else str(error)) from error


def seconds(name: str, text: str, least_s: float, most_s: float) -> float:
    """Return a duration that an option names, within a range; raises UsageError."""
    from fabriscope.model.units import parse_duration_ns

    with checked(name):
        value = parse_duration_ns(text) / 1e9
        if not least_s <= value <= most_s:
            raise ValueError(f"{text} is not from {least_s:g} to {most_s:g} s")
    return value


def share(name: str, text: str | None) -> float | None:
    """Return a share that an option names, None without it; raises UsageError."""
    from fabriscope.model.units import parse_share

    with checked(name):
        return None if text is None else parse_share(text)
