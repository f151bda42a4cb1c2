"""The answer as a table and a picture: each question that the plan asks, who leads, where, by how much, how sure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fabriscope.analysis.comparing.findings import PLACEMENT_NAMES
from fabriscope.analysis.comparing.questions import LOOSE, Question, Reply
from fabriscope.analysis.comparing.reply_words import (
    advice,
    amount_text,
    ends_text,
    grades_text,
    place_text,
    transport_text,
    variants_text,
)
from fabriscope.analysis.proof.transport import BADGES
from fabriscope.analysis.results import Results
from fabriscope.analysis.words import UNKNOWN
from fabriscope.reports._forest import ForestLine, forest
from fabriscope.reports.section import Block, Cell, Column, Heading, Paragraph, Picture, Row, Section, Sections, Table

MOST_LINES = 8
"""Of the picture, and rows of the table that are not folded away."""
MOST_BRIEF_ROWS = 12
_NOTE = (
    "A comparison is of one message size of one variant: a benchmark over a layer, in a placement, with a setting. By "
    "how much: of a lead the ratios of all its comparisons, the least to the most, and an interval around those of all "
    "of them; where nobody leads the widest interval, and all ratios. Where that of a lead reaches down to 1 (above 1) "
    "it was barely shown: that there is one is decided, and how small it may be is not. Trust is the grade of the "
    "worse number of each pair (A sound, B fair, C weak, D unreliable), transport what is known of what carried the "
    "bytes of both."
)
_FORECAST = "Of runs that are told `{2} blocks would decide`, one in five is decided by {0}, and four in five by {1}."
_BY = "by how much, least to most"
_WATCHED = "not watched"
NO_WINNER = "no winner named"
"""Where all numbers are of the worst grade and the lead is within what such numbers err."""


def _build(results: Results) -> list[Section]:
    replies = [(question, reply) for question in results.questions for reply in question.replies]
    if not replies:
        return []
    table = Table(_columns(), [_row(*each) for each in replies], [each[0] for each in replies], "answers", MOST_LINES)
    lines = list(_lines(replies))[:MOST_LINES]
    more = f" (the first {MOST_LINES} of {len(replies)} lines)" if len(replies) > MOST_LINES else ""
    caption = f"Who leads, by how much{more}"
    notes = [_NOTE, *_forecasts(replies)]
    blocks: list[Block] = [table, Paragraph(" ".join(notes), is_note=True)]
    picture = Picture(caption, forest(lines))
    return [Section("verdicts", "Verdicts", blocks, brief=_brief(replies), picture=picture)]


def _columns() -> list[Column]:
    return [
        Column("question"), Column("answer"), Column(_BY), Column("where"), Column("trust"),
        Column("transport", "name"),
    ]  # fmt: skip


def _row(question: Question, reply: Reply) -> Row:
    transport = transport_text(reply.transport)
    return [
        Cell(_names(question), _placement(question)),
        Cell(_answer(reply), style=LOOSE if reply.leader and reply.strength == LOOSE else reply.verdict),
        Cell(_amount(reply), ends_text(reply) if reply.is_told else ""),
        Cell(place_text(question, reply), variants_text(question, reply)),
        grades_text(reply.grades) or UNKNOWN,
        Cell(BADGES.get(transport, transport or _WATCHED), style=transport if transport in BADGES else ""),
    ]


def _answer(reply: Reply) -> str:
    """Return who leads, or that nobody does; on numbers of the worst grade alone no winner is named."""
    if not reply.is_told:
        return NO_WINNER
    return f"{reply.leader} leads" if reply.leader else reply.verdict


def _names(question: Question) -> str:
    return f"{question.first} / {question.second}"


def _where(question: Question, reply: Reply) -> str:
    return ", ".join(part for part in (_placement(question), place_text(question, reply)) if part)


def _placement(question: Question) -> str:
    return PLACEMENT_NAMES.get(question.placement, "")


def _amount(reply: Reply) -> str:
    """Return by how much, and what is lacking; nothing that names a winner where none is named."""
    return f"{amount_text(reply)}{advice(reply)}" if reply.is_told else UNKNOWN


def _lines(replies: Sequence[tuple[Question, Reply]]) -> Iterator[ForestLine]:
    """Yield the picture's lines: who leads by how much, or how many times as fast a pair's first name is."""
    for question, reply in replies:
        label = f"{reply.leader} {'leads' if reply.is_reliable else '/'} {reply.follower}"
        label = label if reply.leader else _names(question)
        ratios = reply.least_ratio, reply.most_ratio
        where = _where(question, reply).partition(" (")[0]  # the table beside it has which benchmarks, and their sizes
        yield ForestLine(label, where, reply.verdict, *ratios, reply.ends, reply.strength)


def _forecasts(replies: Sequence[tuple[Question, Reply]]) -> list[str]:
    """Return what a range of blocks means, with the numbers of the first; nothing where none is told."""
    told = [needed for _, reply in replies if (needed := reply.blocks_to_decide) and needed.least < needed.most]
    return [_FORECAST.format(told[0].least, told[0].most, told[0])] if told else []


def _brief(replies: Sequence[tuple[Question, Reply]]) -> list[Block]:
    """Return the table as a terminal has it: leads first, what is left counted."""
    columns = [Column("answer"), Column(_BY), Column("where"), Column("trust"), Column("transport")]
    rows: list[Row] = []
    for question, reply in replies[:MOST_BRIEF_ROWS]:
        is_led = reply.leader and reply.is_reliable
        said = f"{reply.leader} leads {reply.follower}" if is_led else f"{_names(question)}: {_answer(reply)}"
        transport = transport_text(reply.transport) or _WATCHED
        around = f" ({ends_text(reply)})" if is_led else ""
        rows.append([said, f"{_amount(reply)}{around}", _where(question, reply), grades_text(reply.grades), transport])
    forecasts = [Paragraph(text, is_note=True) for text in _forecasts(replies[:MOST_BRIEF_ROWS])]
    blocks: list[Block] = [Heading("Verdicts"), Table(columns, rows), *forecasts]
    left = len(replies) - MOST_BRIEF_ROWS
    return [*blocks, Paragraph(f"{left} more in the report.", is_note=True)] if left > 0 else blocks


SECTION = Sections("verdicts", 15, _build)
