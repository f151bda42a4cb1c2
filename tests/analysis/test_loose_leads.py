"""What is decided on numbers of the worst grade alone: named as a winner only where the lead exceeds such errors."""

from __future__ import annotations

import pytest
from tests.analysis.small_run import TCP, run_of
from tests.analysis.test_comparisons import SIZES, SLOW, WOBBLE

from fabriscope.analysis.results import results_of
from fabriscope.analysis.words import UNKNOWN
from fabriscope.model.case import Case
from fabriscope.model.run_data import RunData
from fabriscope.reports.section import Table
from fabriscope.reports.sections import sections_of

LEVELS = (1.0, 8.0, 0.3, 3.0)
"""Of the blocks: neither side's numbers are worth anything, the ratio inside each block is."""


def run_with(factor: float) -> RunData:
    measured = {
        Case(entry, "ping_pong", size): [
            [[10**6 * level * (factor * wobble if entry is SLOW else 1)]]
            for level, wobble in zip(LEVELS, WOBBLE, strict=True)
        ]
        for size in SIZES
        for entry in (TCP, SLOW)
    }
    return run_of(measured)


@pytest.mark.parametrize(("factor", "is_named"), [(1.2, False), (4.0, True)])
def test_a_winner_is_named_where_the_lead_exceeds_what_such_numbers_err(factor: float, is_named: bool) -> None:
    results = results_of(run_with(factor))
    assert {row.grade for row in results.graded if row.metric_id == "latency_ns"} == {"D"}
    (question,) = results.questions
    assert question.is_decided
    assert question.is_reliable is is_named
    leads = [sentence for sentence in results.answer if " leads " in sentence]
    loose = [sentence for sentence in results.answer if sentence.startswith("No winner: ")]
    assert (len(leads), len(loose)) == ((1, 0) if is_named else (0, 1))
    vain = "(all of grade D, unreliable: this decides nothing)"
    assert any(vain in sentence for sentence in results.answer) is not is_named
    (section,) = [one for one in sections_of(results) if one.anchor == "verdicts"]
    assert (" leads " in str(section.brief), "no winner named" in str(section.brief)) == (is_named, not is_named)
    if loose:
        numbers = "the numbers that would decide ethernet-100 against gige between hosts"
        assert loose[0] == f"No winner: {numbers} are all unreliable (grade D)."
        ((said, amount, *_),) = [row for block in section.brief if isinstance(block, Table) for row in block.rows]
        assert (said, amount) == ("ethernet-100 / gige: no winner named", UNKNOWN), "nor does the next cell name one"
