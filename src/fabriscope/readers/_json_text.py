"""A report of JSON that is none: whether it ends too early, or what stands in it that JSON does not have, and where."""

from __future__ import annotations

import itertools
import json
import re
from typing import Any

from fabriscope.model.errors import ParseError
from fabriscope.model.foreign import MAX_LEVELS, decode_json, shown
from fabriscope.readers.base import Draft

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[][{}]|[^\s"\[\]{},:]+')
_PLACES = re.compile(r'"(?:[^"\\]|\\.)*"|[][{}]')
MOST_PARTS, MOST_COMMAS = 150_000, 800_000
"""Objects and lists, and values, of a report: of an hour of iperf3 in seconds with eight streams 40,000 and 500,000."""
_JSON_SPACE = " \t\r\n"
"""What JSON takes for nothing; Python strips more."""
_BEGUN = re.compile(r"t|tr|tru|f|fa|fal|fals|n|nu|nul|-|\.|[eE][-+]?|")
"""Of a literal or a number that is cut."""
_QUOTED = re.compile(r"'([\w. -]{1,40})' stands twice")
_BRACKETS = re.compile(r"[][{}]")
_COLON = re.compile(r"\s*:")


def json_report(draft: Draft, program: str) -> Any:
    """Return a program's report; None, with a problem of the draft, where it is no whole one."""
    text = draft.text
    if beyond := _too_large(text):
        says = f"{program}'s report has {beyond}, which is the most: run it with fewer intervals (-i)"
        draft.problem(says, "refused", draft.place(1))
        return None
    try:
        # what is true of each stream's socket stands in one object as often as there are streams
        value = decode_json(text, "", may_repeat=True)
    except ParseError as error:
        cause = error.__cause__
        if isinstance(cause, json.JSONDecodeError):
            _not_json(draft, program, cause)
        else:
            what = error.what.removeprefix("it is no JSON: ")
            what = "a whole number has thousands of digits" if what.startswith("a number in it has more") else what
            draft.problem(f"{program}'s report cannot be read: {what}", "refused", draft.place(_line_of(text, what)))
        return None
    if not isinstance(value, dict):
        draft.problem(f"{program}'s report should be an object and is {shown(value)}", "refused", 1)
        return None
    return value


def _not_json(draft: Draft, program: str, error: json.JSONDecodeError) -> None:
    rest = draft.text[error.pos :].strip(_JSON_SPACE)
    begin = len(draft.text) - len(draft.text.lstrip())
    if error.msg.startswith("Unterminated string") or ("escape" in error.msg and len(rest) < 6):
        draft.problem("no whole JSON report", "cut", 0)
    elif error.msg == "Extra data":
        what = f"a second report of {program} begins" if rest[:1] == "{" else f"text stands after {program}'s report"
        draft.problem(f"{what}: {_beginning(rest)}", "refused", error.lineno)
    elif _BEGUN.fullmatch(rest):
        draft.problem("no whole JSON report", "cut", 0)
    elif error.pos == begin:
        draft.problem(f"text stands before {program}'s report: {_beginning(rest)}", "refused", error.lineno)
    else:
        what = f"{error.msg[0].lower()}{error.msg[1:]}, column {error.colno}: {_beginning(rest)}"
        draft.problem(f"{program}'s report is no JSON: {what}", "refused", error.lineno)


def _beginning(text: str) -> str:
    return shown(text.partition("\n")[0])


def _line_of(text: str, what: str) -> int:
    """Return the line of what our JSON does not have: such a number, so deep a level, or a key that stood before."""
    is_deep, is_key = "levels" in what, "stands twice" in what
    if not is_deep and not is_key:
        word = what.partition(" is ")[0]
        return next((_number_of(text, hit.start()) for hit in _TOKEN.finditer(text) if hit[0].startswith(word)), 0)
    if is_key and (at := _again(text, what)):
        return _number_of(text, at)
    names: list[set[str]] = [set()]
    for token in _PLACES.finditer(text):
        word = token[0]
        if word in "[{":
            names.append(set())
            if is_deep and len(names) > MAX_LEVELS + 1:
                return _number_of(text, token.start())
        elif word in "]}":
            names = names[:-1] or [set()]
        elif is_key and _COLON.match(text, token.end()):
            if word in names[-1] and f"{shown(word[1:-1])} stands twice" in what:
                return _number_of(text, token.start())
            names[-1].add(word)
    return 0


def _again(text: str, what: str) -> int:
    """Return where a key stands for the second time in one object, if no other part is between; 0 where one is."""
    key = _QUOTED.search(what)
    places = [hit.start() for hit in re.finditer(rf'"{re.escape(key[1])}"\s*:', text)] if key else []
    pairs = itertools.pairwise(places)
    return next((at for before, at in pairs if not _BRACKETS.search(text, before, at)), 0) if len(places) < 10 else 0


def _number_of(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _too_large(text: str) -> str:
    """Return which limit a report is beyond; empty for none. Each part and each value of one takes memory."""
    if text.count("{") + text.count("[") > MOST_PARTS:
        return f"more than {MOST_PARTS:,} objects and lists"
    return f"more than {MOST_COMMAS:,} values" if text.count(",") > MOST_COMMAS else ""
