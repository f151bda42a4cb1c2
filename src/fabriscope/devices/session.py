"""A session with a device as a terminal keeps it: prompts, what a pager left, colours; and the outputs in it."""

from __future__ import annotations

import re
from collections.abc import Iterator

_COLOUR = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[=>()][0-9A-B]?)")
"""Sequences of a terminal: colours, the clearing of a line, its title."""
_PAGER = re.compile(
    r"^(?: *--More--(?:\(\d+%\))?(?:[ \x08]*\x08\n?|[ \x08]*\r[ \x08]*\r?| *\n)"
    r"|lines \d+-\d+(?:/\d+)?(?: \(END\))? *\r)",
    re.MULTILINE,
)
"""What a pager left; the line goes on after it, or the next one does."""
_HOST = (
    r"(?:[\w.@:~()/-]{1,80}"  # leaf1(config), admin@leaf1:~
    r"|\[[\w.-]{1,64}@[\w.-]{1,64} [^\]\n]{1,64}\]"  # [root@node1 ~]
    r"|[\w.-]{1,64} \[[^\]\n]{1,64}\](?: \([^)\n]{1,64}\))? ?)"  # Onyx: leaf1 [standalone: master] (config)
    r"[#>$]"
)
_COMMAND = r"(?:sudo )?(?:(?:show|sh|nv|sonic-cfggen|cat|perfquery) .*|ibstat(?: .*)?|perfquery)"
_PROMPT = re.compile(rf"^({_HOST}) ?({_COMMAND})$", re.MULTILINE)
"""A line of a session in which a command was given: `leaf1# show interfaces | json`."""
_AT_PROMPT = re.compile(rf"{_HOST} ?(?:exit|quit|logout)?")
_NAME = re.compile(r"\[?(?:[\w.-]+@)?([\w.-]+)")


def cleaned(text: str) -> str:
    """Return a text without what a terminal and a pager put into it."""
    text = _COLOUR.sub("", text.removeprefix("\ufeff").replace("\r\n", "\n"))
    return _PAGER.sub("", text)


def is_prompt(line: str) -> bool:
    """Return whether a line is a prompt at which nothing was asked."""
    return _AT_PROMPT.fullmatch(line.strip()) is not None


def hosts(text: str) -> list[str]:
    """Return the names of those whose prompts a session has."""
    names = (match[1] for prompt in _PROMPT.finditer(text) if (match := _NAME.match(prompt[1])))
    return list(dict.fromkeys(names))


def pieces(text: str) -> Iterator[tuple[str, str]]:
    """Yield the outputs of a cleaned session, each with its command; of a text without prompts itself.

    A last line without its end may be cut in a number: it is not read, unless the text is JSON, which shows a cut.
    """
    prompts = list(_PROMPT.finditer(text))
    for at, prompt in enumerate(prompts):
        is_last = at + 1 == len(prompts)
        output = text[prompt.end() + 1 : len(text) if is_last else prompts[at + 1].start()]
        before, next_prompt = _up_to_prompt(output, prompt[1])
        yield prompt[2].strip(), _closed(before) if next_prompt or not is_last else whole_lines(before)
    if not prompts:
        yield "", whole_lines(text)


def _up_to_prompt(output: str, prompt: str) -> tuple[str, bool]:
    """Return what stands before the next line that begins with a prompt, and whether there is one."""
    name = _NAME.match(prompt)
    for match in re.finditer(rf"^{_HOST}", output, re.MULTILINE):
        other = _NAME.match(match[0])
        if name is not None and other is not None and name[1] == other[1]:
            return output[: match.start()], True
    return output, False


def _closed(output: str) -> str:
    """Return an output behind which the device asked for the next command: lines of a configuration end with a sign."""
    is_lines = output.strip()[:1] not in ("", "-", "[", "{") and output.endswith("\n")
    return f"{output}!\n" if is_lines else output


def whole_lines(text: str) -> str:
    """Return the lines of a text that have their end."""
    if text.rstrip().endswith(("}", "]")) and text.lstrip()[:1] in ("{", "["):
        return text
    return text[: text.rfind("\n") + 1]
