"""What the pages say can be followed: links lead somewhere, commands exist and take the options that are shown."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import yaml

from fabriscope.cli import fabriscope

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```[a-z]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
OLD_COMMANDS = ("CHANGELOG.md",)


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as forges make them."""
    heads = re.findall(r"^#{1,6} (.+)$", FENCE.sub("", page.read_text()), re.MULTILINE)
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", head).lower() for head in heads]
    return {re.sub(r"[^\w\- ]", "", head).strip().replace(" ", "-") for head in plain}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(FENCE.sub("", page.read_text())):
        if target.startswith(("http:", "https:", "mailto:")):
            continue
        name, _, anchor = target.partition("#")
        goal = (page.parent / name).resolve() if name else page
        assert goal.exists(), f"{page.name} links to {target}"
        assert not anchor or anchor in anchors(goal), f"{page.name} links to {target}: {sorted(anchors(goal))}"


def commands(text: str) -> Iterator[list[str]]:
    """Yield the words of each fabriscope command in a page's blocks, without what another program gets."""
    for block in FENCE.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            for part in re.split(r"[;|&]+ ?", line.split(" #")[0]):
                words = part.split()
                if words[:1] == ["fabriscope"] and len(words) > 1 and re.fullmatch(r"[a-z-]+", words[1]):
                    try:
                        yield shlex.split(part.partition(" -- ")[0])[1:]
                    except ValueError:  # a quote that goes on in the next line
                        continue


@pytest.mark.parametrize("page", [one for one in PAGES if one.name not in OLD_COMMANDS], ids=lambda page: page.name)
def test_commands_exist_and_take_what_is_shown(page: Path) -> None:
    context = click.Context(fabriscope)
    for words in commands(page.read_text()):
        command: click.Command | None = fabriscope
        while isinstance(command, click.Group) and words and not words[0].startswith("-"):
            command, name = command.get_command(context, words[0]), words.pop(0)
            assert command is not None, f"{page.name} shows `fabriscope {name}`, which there is not"
        assert command is not None
        known = {
            option for one in command.get_params(click.Context(command)) for option in (*one.opts, *one.secondary_opts)
        }
        for word in words:
            option = word.partition("=")[0]
            if re.fullmatch(r"--[a-z][a-z-]*|-[a-z]", option):
                assert option in known, f"{page.name} shows {option} of `{command.name}`, which takes {sorted(known)}"


def test_every_page_is_in_the_site() -> None:
    """MkDocs makes the site of them (`make docs`)."""

    def pages(part: object) -> Iterator[str]:
        if isinstance(part, str):
            yield part
        elif isinstance(part, dict):
            yield from pages(list(part.values()))
        elif isinstance(part, list):
            for one in part:
                yield from pages(one)

    listed = list(pages(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]))
    assert sorted(listed) == sorted(page.name for page in (ROOT / "docs").glob("*.md"))


TRIAL = re.compile(r"python (?:-m )?((?:campaigns|benchmarks)[\w./]*)([^`]*)")
IMPORTED = re.compile(r"^from ((?:campaigns|benchmarks)[\w.]*) import", re.MULTILINE)


def trials(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each program of ours by which a page says that a number can be made again, and the options that it gets."""
    blocks = " ".join(FENCE.findall(text)).replace("\\\n", " ")
    for shown in (*blocks.splitlines(), *re.findall(r"`[^`]+`", FENCE.sub("", text))):
        if match := TRIAL.search(shown.split(" #")[0]):
            yield match[1], re.findall(r"\s(--[a-z][a-z-]*|-[a-z])\b", match[2])


def source_of(program: str) -> str:
    """Return the text of a program, of a folder that of all its files; nothing where there is none."""
    path = ROOT / (program if program.endswith(".py") else program.replace(".", "/"))
    if (path / "__main__.py").exists():
        return "".join(file.read_text() for file in path.glob("*.py"))
    file = path.with_suffix(".py")
    return file.read_text() if file.exists() else ""


@pytest.mark.parametrize("page", [one for one in PAGES if one.name not in OLD_COMMANDS], ids=lambda page: page.name)
def test_what_makes_a_page_s_numbers_exists_and_takes_what_is_shown(page: Path) -> None:
    for program, options in trials(page.read_text()):
        source = source_of(program)
        assert source, f"{page.name} shows `{program}`, which there is not"
        source += "".join(map(source_of, IMPORTED.findall(source)))
        for option in options:
            assert f'"{option}"' in source, f"{page.name} shows {option} of {program}, which does not take it"
