"""The answer in a few sentences: what a reader should take away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from fabriscope.analysis import group_words
from fabriscope.analysis.best_words import best_sentences
from fabriscope.analysis.comparing.questions import Question
from fabriscope.analysis.comparing.reply_words import loose_sentence, question_sentence, undecided_sentence
from fabriscope.analysis.frames import Failure
from fabriscope.analysis.incast.incast_words import incast_sentences
from fabriscope.analysis.incast.points import IncastCurve
from fabriscope.analysis.values.groups import Group
from fabriscope.analysis.values.summary import Summary
from fabriscope.analysis.values.trust import GradedEstimate
from fabriscope.model.benchmarks import BENCHMARKS
from fabriscope.model.counting import counted, listed

MOST_QUESTIONS = 4
"""Questions that are answered in sentences of their own; the table of verdicts has them all."""


def answer(
    asked: Sequence[Question],
    table: Sequence[Summary],
    failures: Sequence[Failure],
    estimates: Sequence[GradedEstimate],
    shared: Sequence[Group],
    incast: Sequence[IncastCurve] = (),
    refused: str = "",
) -> list[str]:
    """Return sentences, the most important first, from the questions with their replies, the summary, the failures,
    the estimates, the table of what many ranks did at once, many to one, and which of its windows are refused."""
    streams = list(incast_sentences(incast))
    numbers = [*best_sentences(table, estimates, asked), *group_words.sentences(shared)]
    sentences = [*streams, *_replies(asked), *([refused] if refused else [])]
    sentences += numbers or ([] if sentences else _measured(estimates))
    if failures:
        sentences.append(_failed(failures, is_all=not estimates))
    beyond = sum(row.impossible_launch_count for row in estimates)
    if beyond:
        they = (
            "lies beyond what wire or memory allow; it is"
            if beyond == 1
            else "lie beyond what wire or memory allow; they are"
        )
        sentences.append(f"{counted(beyond, 'launch value')} {they} kept but not counted.")
    return sentences or ["Nothing has been measured yet."]


def _failed(failures: Sequence[Failure], *, is_all: bool) -> str:
    cases = counted(len({failure.case_id for failure in failures}), "case")
    [(reason, count)] = Counter(failure.reason for failure in failures).most_common(1)
    head = "Nothing was measured: " if is_all else ""
    why = f": {reason}" if reason else ""
    why += f" ({count} of them)" if reason and count < len(failures) else ""
    verb = "was" if len(failures) == 1 else "were"
    return f"{head}{counted(len(failures), 'measurement')} of {cases} failed or {verb} left out{why}."


def _replies(asked: Sequence[Question]) -> Iterator[str]:
    decided = [question for question in asked if question.is_reliable]
    for question in decided[:MOST_QUESTIONS]:
        yield question_sentence(question)
    if len(decided) > MOST_QUESTIONS:
        yield f"{len(decided) - MOST_QUESTIONS} more pairs are answered in the table of verdicts."
    loose = [question for question in asked if question.is_decided and not question.is_reliable]
    if loose:
        yield loose_sentence(loose)
    undecided = [question for question in asked if not question.is_decided]
    if undecided:
        yield undecided_sentence(undecided)


def _measured(estimates: Sequence[GradedEstimate]) -> Iterator[str]:
    """Yield what was measured, where no number of it is told."""
    measured = list(dict.fromkeys(row.benchmark for row in estimates if row.layer != "null"))
    if measured:
        titles = [BENCHMARKS[name].title if name in BENCHMARKS else name for name in measured]
        yield f"Measured, with the numbers in their tables: {listed(titles)}."
