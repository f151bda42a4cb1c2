"""What the program can print: the texts of its source with holes for values, and whether a sentence is made of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
HOLE = "\0"
# These words join others and are never a value: only a text of the source that has them in their place explains them.
JOINING = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be but by for from had has have if in is it no not of on or than that the then there they"
        " to was were which with",
    )
)
CLAUSE = re.compile(r"[:;] | -- ")  # a page may quote a part of a message, up to here
TOUCHING = re.compile(rf"(?<=[a-z]{{3}}){HOLE}|{HOLE}(?=[a-z]{{3}})")
ELLIPSIS = "..."
BEGINNING = 4
"""Of a text whose end an ellipsis may hide, as many words are to be seen."""
LISTING = frozenset({"and", "or", "to"})  # what stands between the parts of a list is a text by itself
Template = tuple[str, ...]


def words(text: str) -> list[str]:
    """Return the words of a text, in lower case and without punctuation; a word that a value touches is a hole."""
    marked = (HOLE if HOLE in word else word.strip("()[]{},;:.!?\"'`“”…-–+*~<>=&|$#").lower() for word in text.split())
    return [word for word in marked if word]


def template(text: str) -> Template:
    """Return a text of the source as its words and holes."""
    made: list[str] = []
    for word in words(text):
        if word != HOLE or made[-1:] != [HOLE]:
            made.append(word)
    return tuple(made)


def docstrings(tree: ast.AST) -> set[int]:
    """Return which nodes are docstrings and other texts that stand for themselves: nobody prints them."""
    return {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}


def keys(tree: ast.AST) -> set[int]:
    """Return which nodes are keys of what is read or built: `row["sent"]`, `row.get("sent")`, `{"sent": 5}`."""
    found: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript):
            found.add(id(node.slice))
        elif isinstance(node, ast.Dict):
            found |= {id(key) for key in node.keys}
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("get", "pop"):
            found |= {id(value) for value in node.args[:1]}
    return found


def texts_of_python(source: str) -> Iterator[str]:
    """Yield each text of a Python file; what an f-string, % or format() fills in is a hole."""
    tree = ast.parse(source)
    left_out = docstrings(tree) | keys(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            left_out |= {id(value) for value in node.values}
            yield "".join(str(value.value) if isinstance(value, ast.Constant) else HOLE for value in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in left_out:
            yield re.sub(r"\{[\w.!:]*\}|%[\d.]*[sdfr]", HOLE, node.value)


LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
FILLED = re.compile(r"\s*(?:\+|<<)[^;{}?]{1,160}(?:\+|<<)\s*")


def texts_of_braces(source: str) -> Iterator[str]:
    """Yield each text of a C++ or Java file; neighbours are one text, and what + or << puts between two is a hole."""
    text, end = "", 0
    for match in LITERAL.finditer(source):
        between = source[end : match.start()]
        if text and not between.isspace() and not FILLED.fullmatch(between):
            yield re.sub(r"%[\d.]*l*[sdfuz]", HOLE, text)
            text = ""
        text += (HOLE if text and not between.isspace() else "") + match[1]
        end = match.end()
    yield text


@cache
def templates() -> frozenset[Template]:
    """Return every text of the program's sources."""
    found = [text for file in (ROOT / "src").rglob("*.py") for text in texts_of_python(file.read_text())]
    for room in ("engine", "switch", "src"):
        for end in ("*.cc", "*.h", "*.java"):
            found += [text for file in (ROOT / room).rglob(end) for text in texts_of_braces(file.read_text())]
    clauses = {clause for text in found for clause in (text, *CLAUSE.split(text))}
    # A value beside a word may begin or end with the space between them.
    clauses |= {TOUCHING.sub(f" {HOLE} ", clause) for clause in clauses if TOUCHING.search(clause)}
    made = {template(clause) for clause in clauses} - {(), (HOLE,)}
    return frozenset(made - {(word,) for word in JOINING - LISTING})


@cache
def by_first_word() -> dict[str, list[Template]]:
    """Return the texts by the first of their words that is no hole: of many thousand, few can be in a sentence."""
    found: dict[str, list[Template]] = {}
    for one in templates():
        found.setdefault(next(word for word in one if word != HOLE), []).append(one)
    return found


@cache
def vocabulary() -> frozenset[str]:
    """Return the words that are a text of the source by themselves, and so can fill a hole."""
    alone = {made[0] for made in templates() if len(made) == 1} - JOINING
    return frozenset(alone | {f"{word}s" for word in alone} | {f"{word}es" for word in alone})


def is_value(word: str) -> bool:
    """Say whether a word can be a number, a unit, a path or a name."""
    return len(word) == 1 or bool(re.search(r"[\d/_.%@:=*\\]", word)) or word in vocabulary()


class Explained:
    """Which parts of a sentence the texts of the source explain; an ellipsis stands for anything."""

    def __init__(self, sentence: str, names: frozenset[str] = frozenset()) -> None:
        self.words = [
            ELLIPSIS if ELLIPSIS in word else word for word in words(re.sub(r"\.\.\.|…", " _..._ ", sentence))
        ]
        self.names = names
        had = set(self.words)
        # The end of a text may be behind an ellipsis.
        seen = BEGINNING if ELLIPSIS in had else None
        self.templates = [
            one
            for word in had
            for one in by_first_word().get(word, ())
            if had.issuperset([fixed for fixed in one if fixed != HOLE][:seen])
        ]
        self.kept: dict[tuple[int, int], bool] = {}

    def whole(self) -> bool:
        """Say whether the whole sentence can be printed."""
        return self.span(0, len(self.words))

    def value(self, place: int) -> bool:
        word = self.words[place]
        return word == ELLIPSIS or word in self.names or is_value(word)

    def span(self, start: int, end: int) -> bool:
        """Say whether a part is made of texts and values that follow each other."""
        if start == end:
            return True
        if (start, end) not in self.kept:
            self.kept[start, end] = False  # a part is not explained by itself
            self.kept[start, end] = (
                (self.value(start) and self.span(start + 1, end))
                or any(self.fits(one, 0, start, end) for one in self.templates)
                or any(
                    any(self.fits(one, 0, start, middle) for one in self.templates) and self.span(middle, end)
                    for middle in range(start + 1, end)
                )
            )
        return self.kept[start, end]

    def fits(self, one: Template, part: int, start: int, end: int) -> bool:
        """Say whether a part is this text from its `part`th word on, its holes filled with what is explained."""
        if part == len(one):
            return start == end
        if start < end and self.words[start] == ELLIPSIS and part >= BEGINNING and start + 1 == end:
            return True
        if one[part] != HOLE:
            return start < end and self.words[start] == one[part] and self.fits(one, part + 1, start + 1, end)
        least = 0 if ELLIPSIS in self.words else sum(word != HOLE for word in one[part + 1 :])
        return any(
            self.fits(one, part + 1, middle, end) and self.span(start, middle)
            for middle in range(start, end - least + 1)
        )
