"""What is wrong with a text that is no YAML, in which line, and what to write there."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import yaml

Finding = tuple[int, str, str]
"""The number of a line, what is wrong with it, and what to do."""
_NOT_YAML = "this is not YAML"
_UNSPACED = re.compile(r" *(?:- )?([A-Za-z_]{1,40}):([^\s/:'\"].{0,60})")
"""A key and its value, as `budget:40s`, which YAML reads as one word."""
_TWO_KEYS = re.compile(r" *(?:- )?([A-Za-z0-9_.-]{1,40}): +([A-Za-z_]{1,40}: +[^#{}]{1,60})")
_ASSIGNED = re.compile(r" *([A-Za-z_]{1,40}) ?= ?([^:#=]{1,60})")
_INI_SECTION = re.compile(r"\[[A-Za-z_ ]{1,40}\]")
_LOOK_ALIKES = {
    "\N{FULLWIDTH COLON}": "a full-width colon stands for `:`",
    "\N{NO-BREAK SPACE}": "a no-break space stands for a blank",
    "\N{FULLWIDTH COMMA}": "a full-width comma stands for `,`",
}
"""Characters that look like those of YAML."""
_REMEDIES = (
    ("\\t", "indent with spaces, not with tabs"),
    ("mapping values", "put text with a colon in quotes, and check the indentation"),
    ("found undefined alias", "an alias (*name) stands for what &name marked before it: put text with * in quotes"),
    ("found another document", "keep one plan in the file, and remove the line `---` before the other"),
    ("cannot start any token", "put text that begins with this character in quotes"),
    ("could not find expected ':'", "write it as `key: value`, with a colon and a blank"),
    ("<block mapping start>", "keys of one level begin in one column: indent this line as those beside it"),
    ("but found '}'", "remove the brace, which closes nothing"),
    ("but found ']'", "remove the bracket, which closes nothing"),
    ("expected ',' or", "close the bracket, or put text that has brackets in quotes, such as 'node[1-4]'"),
)
"""Part of what the loader says to what to do about it."""


def finding(text: str, error: yaml.MarkedYAMLError) -> Finding:
    """Return what is wrong with a text that the loader refused."""
    lines = text.split("\n")
    known = (read(lines, error) for read in _READERS)
    return next((one for one in known if one is not None), (_line(error), _what(error), _remedy(error)))


def _line(error: yaml.MarkedYAMLError) -> int:
    """Return the line of what is wrong: of a key without a colon, or a bracket left open, that in which it begins."""
    begins = (error.problem or "").startswith(("could not find expected ':'", "expected ',' or"))
    mark = (begins and error.context_mark) or error.problem_mark or error.context_mark
    return mark.line + 1 if mark else 1


def _what(error: yaml.MarkedYAMLError) -> str:
    problem = str(error.problem or error.context)
    return f"{_NOT_YAML}: {problem if len(problem) <= 200 else problem[:200] + ' ...'}"


def _remedy(error: yaml.MarkedYAMLError) -> str:
    problem = error.problem or ""
    usual = "check the indentation, brackets and quotes on this line and the one above"
    return next((remedy for part, remedy in _REMEDIES if part in problem), usual)


def _at(lines: Sequence[str], at: int) -> str:
    """Return a line; nothing where the loader counts more lines than line feeds."""
    return lines[at] if 0 <= at < len(lines) else ""


def _odd_character(lines: Sequence[str], error: yaml.MarkedYAMLError) -> Finding | None:
    """Find a colon or a blank that only looks like one, in the lines that an error is about."""
    marks = [mark.line for mark in (error.context_mark, error.problem_mark) if mark]
    for at in range(max(0, min(marks, default=0) - 1), max(marks, default=0) + 1):
        for character, what in _LOOK_ALIKES.items():
            if character in _at(lines, at):
                return at + 1, f"{_NOT_YAML}: {what} (U+{ord(character):04X})", "type it anew"
    return None


def _unspaced(lines: Sequence[str], error: yaml.MarkedYAMLError) -> Finding | None:
    """Find the first key of what an error is about that has no blank after its colon."""
    first = error.context_mark or error.problem_mark
    start = first.line - (error.context_mark is None) if first else 0
    start = max(start, 0)
    end = error.problem_mark.line + 1 if error.problem_mark else start + 1
    for number, line in enumerate(lines[start:end], start + 1):
        if match := _UNSPACED.fullmatch(line.rstrip()):
            return number, f"no blank stands after the colon of {match[1]!r}", f"write `{match[1]}: {match[2]}`"
    return None


def _assigned(lines: Sequence[str], error: yaml.MarkedYAMLError) -> Finding | None:
    """Find `key = value`, which YAML reads as a text that goes on in the next line."""
    for at in (_line(error) - 2, _line(error) - 1):
        if match := _ASSIGNED.fullmatch(_at(lines, at).rstrip()):
            return at + 1, f"{_NOT_YAML}: no colon stands after {match[1]!r}", f"write `{match[1]}: {match[2]}`"
    return None


def _two_keys(lines: Sequence[str], error: yaml.MarkedYAMLError) -> Finding | None:
    """Find a mapping behind the key that it belongs to, in the same line and without braces."""
    at = _line(error) - 1
    match = _TWO_KEYS.fullmatch(_at(lines, at).rstrip()) if "mapping values" in (error.problem or "") else None
    if match is None:
        return None
    fix = f"write `{match[1]}: {{{match[2]}}}`, or put text with a colon in quotes"
    return at + 1, f"{_NOT_YAML}: two keys stand in one line", fix


def _open_quote(_: Sequence[str], error: yaml.MarkedYAMLError) -> Finding | None:
    """Find a quote that nothing closes."""
    if "quoted scalar" not in (error.context or "") or "unexpected end" not in (error.problem or ""):
        return None
    begins = error.context_mark
    return (begins.line + 1 if begins else 1), f"{_NOT_YAML}: a quote of this line is not closed", "close the quote"


def _fence(lines: Sequence[str], error: yaml.MarkedYAMLError) -> Finding | None:
    """Find a line of Markdown's round the plan."""
    at = _line(error) - 1
    is_fence = _at(lines, at).lstrip().startswith("```")
    return (at + 1, f"{_NOT_YAML}: this line is one of Markdown's", "remove the line") if is_fence else None


def _ini(lines: Sequence[str], error: yaml.MarkedYAMLError) -> Finding | None:
    """Find a plan that is written like an INI file."""
    if not _INI_SECTION.fullmatch(lines[0].strip()) or "<document start>" not in (error.problem or ""):
        return None
    return 1, "a plan is YAML, and has no [sections]", "remove the line, and write `key: value` for `key = value`"


def _uncommaed(lines: Sequence[str], error: yaml.MarkedYAMLError) -> Finding | None:
    """Find what follows a bracket that is closed, within another one and without a comma between."""
    mark = error.problem_mark
    line = _at(lines, mark.line) if mark else ""
    before, after = (line[: mark.column].rstrip(), line[mark.column :]) if mark else ("", "")
    is_between = before[-1:] in ("}", "]") and after[:1] not in ("", "}", "]")
    if mark is None or not (is_between and (error.problem or "").startswith("expected ',' or")):
        return None
    return mark.line + 1, f"{_NOT_YAML}: no comma stands between {before[-1]!r} and what follows", "put one between"


def _comma(lines: Sequence[str], error: yaml.MarkedYAMLError) -> Finding | None:
    """Find the line of a JSON document at whose end a comma is missing."""
    is_json = lines[0].lstrip().startswith("{") and "but got '<scalar>'" in (error.problem or "")
    mark = error.problem_mark
    if not is_json or mark is None or _at(lines, mark.line)[: mark.column].strip():
        return None
    at = next((at for at in range(mark.line - 1, 0, -1) if _at(lines, at).strip()), 0)
    return at + 1, f"{_NOT_YAML}: a comma is missing at the end of this line", "add it"


_READERS: tuple[Callable[[Sequence[str], yaml.MarkedYAMLError], Finding | None], ...] = (
    _fence, _ini, _odd_character, _unspaced, _open_quote, _assigned, _two_keys, _uncommaed, _comma,
)  # fmt: skip
