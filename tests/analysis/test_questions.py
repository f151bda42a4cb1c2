"""The questions of a run and their replies: who leads, where, by how much, how sure; and the lead made of them."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from tests.analysis.small_run import HOSTS, TCP, run_of
from tests.analysis.test_comparisons import LEVELS, MPI, SIZES, SLOW, WOBBLE, run_with

from fabriscope.analysis.comparing.comparisons import KINDS
from fabriscope.analysis.comparing.control import CONTROL
from fabriscope.analysis.comparing.questions import LOOSE, PLACES, SOUND, WEAK, Question, questions
from fabriscope.analysis.comparing.reply_words import ends_text, question_sentence, transport_text
from fabriscope.analysis.results import Results, results_of
from fabriscope.model.case import Case, Entry
from fabriscope.model.run_data import RunData
from fabriscope.reports.section import Table
from fabriscope.reports.sections import sections_of

OTHER = Entry("mpi", "ethernet-100", "inter", HOSTS, "mpich")


def asked(run: RunData, *kinds: str) -> list[Question]:
    results = Results(run)
    return questions(results.compared, results.graded, kinds)


def test_who_leads_everywhere_is_told_with_its_grade() -> None:
    (question,) = asked(run_with(lambda _: 2.0))
    order = {(row.pair.left, row.pair.right) for row in results_of(run_with(lambda _: 2.0)).all_ranges}
    assert order == {(question.first, question.second)}, "as in every other table and figure, whoever leads"
    (reply,) = question.replies
    assert reply.least_ratio == pytest.approx(2.0, rel=1e-2)
    low, high = reply.ends or (0.0, 0.0)
    assert 1.9 < low < 2.0 < high < 2.1
    assert sum(reply.grades.values()) == len(SIZES)
    grade = next(iter(reply.grades))
    text = f"gige leads ethernet-100 at every size, 2.00 times as fast ({ends_text(reply)}; trust {grade}: fair)."
    assert ends_text(reply).startswith("interval 1.99")
    assert question_sentence(question) == f"Ping-pong, TCP, between hosts: {text}"


def test_a_lead_that_passes_names_both_and_where() -> None:
    (question,) = asked(run_with(lambda size: 0.5 if size < 64 else 2.0))
    text = question_sentence(question)
    assert "gige leads ethernet-100 from 64 B on, 2.00 times as fast" in text
    assert "ethernet-100 leads gige at 8 B, 2.00 times" in text
    assert [reply.leader for reply in question.replies] == ["gige", "ethernet-100"], "whoever leads at more points"


def test_variants_are_one_question_at_each_placement() -> None:
    """Over TCP 2 times and over MPI 3 times: one question with two variants."""
    measured: dict[Case, list[list[list[float]]]] = {}
    for entry, factor in ((TCP, 1.0), (SLOW, 2.0), (MPI, 1.0), (OTHER, 3.0)):
        for size in SIZES:
            times = [10**6 * level * factor * wobble for level, wobble in zip(LEVELS, WOBBLE, strict=True)]
            measured[Case(entry, "ping_pong", size)] = [[[time]] for time in times]
    found = [question for question in asked(run_of(measured)) if question.kind == "fabric"]
    (question,) = found
    assert (question.curve_count, len(question.points)) == (2, 2 * len(SIZES))
    text = question_sentence(question)
    span = "2.00 to 3.00 times as fast depending on size and layer (interval "
    where = f"in all {2 * len(SIZES)} comparisons of latency"
    assert text.startswith(f"Between hosts: gige leads ethernet-100 {where}, {span}")
    assert not [one for one in asked(run_of(measured), "layer") if one.kind == "fabric"], "what the plan names alone"


def test_what_is_undecided_is_named_and_nobody_leads() -> None:
    run = run_with(lambda _: 1.0005, blocks=1)
    (question,) = asked(run)
    assert not question.is_decided
    answer = results_of(run).answer
    assert answer[0].startswith("Undecided in every comparison: ")
    assert not any(" leads " in sentence for sentence in answer)


def test_what_is_decided_comes_before_what_people_ask_first() -> None:
    """Fabrics, whose launches differ too much, after MPI against TCP, which takes three times as long."""
    unsteady = (1.3, 0.7, 1.2, 0.8)
    measured: dict[Case, list[list[list[float]]]] = {}
    for entry, factors in ((TCP, (1.0,) * 4), (SLOW, unsteady), (MPI, (3.0,) * 4)):
        for size in SIZES:
            times = [10**6 * level * factor * wobble
                     for level, factor, wobble in zip(LEVELS, factors, WOBBLE, strict=True)]  # fmt: skip
            measured[Case(entry, "ping_pong", size)] = [[[time]] for time in times]
    found = asked(run_of(measured))
    assert [(question.kind, question.is_decided) for question in found] == [("layer", True), ("fabric", False)]


def test_every_kind_of_comparison_has_its_place() -> None:
    assert {*PLACES} == {*KINDS} - {CONTROL}


def test_a_best_number_that_others_overlap_is_nobodys_alone() -> None:
    (best,) = [text for text in results_of(run_with(lambda _: 1.0)).answer if text.startswith("Between hosts, the")]
    assert re.search(r"\), (gige|ethernet-100) · TCP, whose interval overlaps that of (gige|ethernet-100) · TCP;", best)
    (clear,) = [text for text in results_of(run_with(lambda _: 2.0)).answer if text.startswith("Between hosts, the")]
    assert "gige · TCP" in clear
    assert "overlaps" not in clear


def test_whom_a_verdict_sets_behind_the_best_is_not_told_to_overlap_it() -> None:
    """Blocks differ by more than the 10 % at the two least sizes, and at 1 KiB nobody leads."""
    run = run_with(lambda size: 1.1 if size < SIZES[-1] else 1.0)
    (best,) = [text for text in results_of(run).answer if text.startswith("Between hosts, the")]
    latency, bandwidth = best.split("; the largest ping-pong bandwidth")
    assert re.search(r"\), gige · TCP$", latency), "the verdict of ratios inside blocks decides between the two"
    assert "whose interval overlaps that of" in bandwidth
    first, second = (row.latency for row in results_of(run).summaries)
    assert first.overlaps(second)


@pytest.mark.parametrize(
    ("grades", "meaning", "strength"),
    [({}, "", SOUND), ({"B": 2}, "trust B: fair", SOUND), ({"A": 1, "C": 9}, "trust A to C: sound to weak", WEAK),
     ({"C": 1, "D": 1}, "trust C to D: weak to unreliable", WEAK),
     ({"D": 3}, "trust D: unreliable", LOOSE)],
)  # fmt: skip
def test_grades_of_a_lead_are_said_in_words(grades: dict[str, int], meaning: str, strength: str) -> None:
    (question,) = asked(run_with(lambda _: 2.0))
    reply = replace(question.replies[0], grades=grades, transport={})
    text = question_sentence(replace(question, replies=(reply,)))
    behind = f"{ends_text(reply)}{f'; {meaning}' if meaning else ''}"
    assert text.endswith(f" times as fast ({behind}).")
    assert reply.strength == strength


@pytest.mark.parametrize(
    ("transport", "text"),
    [({"proved": 5}, "proved"), ({"proved": 3, "": 2}, "proved at 3 of 5"), ({"": 4}, ""),
     ({"proved": 1, "undecided": 1}, "proved at 1 of 2, undecided at 1 of 2")],
)  # fmt: skip
def test_what_carried_the_bytes_is_counted(transport: dict[str, int], text: str) -> None:
    assert transport_text(transport) == text


def test_the_interval_of_a_lead_that_was_barely_shown_says_that_it_leads() -> None:
    (question,) = asked(run_with(lambda _: 2.0))
    (reply,) = question.replies
    assert reply.is_inverse
    points = tuple(replace(point, stated_high=1.0) for point in reply.points)
    assert re.fullmatch(r"interval above 1, at most 2\.\d\d", ends_text(replace(reply, points=points)))


def test_the_interval_of_a_lead_has_the_unit_of_the_lead_and_stands_beside_it() -> None:
    results = results_of(run_with(lambda _: 1.5))
    (question,) = results.questions
    words = ends_text(question.replies[0])
    assert re.fullmatch(r"interval (49|50)(\.\d+)? to 50(\.\d+)? %", words)
    (section,) = [one for one in sections_of(results) if one.anchor == "verdicts"]
    ((_, amount, *_),) = [row for block in section.brief if isinstance(block, Table) for row in block.rows]
    assert amount == f"by 50 % ({words})"


def test_a_reply_turned_round_says_the_same() -> None:
    (question,) = asked(run_with(lambda _: 2.0))
    (reply,) = question.replies
    turned = replace(reply, is_inverse=not reply.is_inverse)
    assert turned.least_ratio == pytest.approx(1 / reply.most_ratio)
    assert turned.ends == pytest.approx(tuple(1 / end for end in reversed(reply.ends or ())))
