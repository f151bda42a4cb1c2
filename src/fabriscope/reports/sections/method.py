"""How it was measured: what is replicated, and the definition of every number."""

from __future__ import annotations

from collections.abc import Iterator

from fabriscope.analysis.comparing.pilots import choice_words
from fabriscope.analysis.numbers.evidence import ANYTIME, FIXED
from fabriscope.analysis.numbers.medians import FREE_FROM, FREE_FROM_ANYTIME
from fabriscope.analysis.results import Results
from fabriscope.analysis.values.stopping import Rules
from fabriscope.analysis.values.turn_series import turn_series
from fabriscope.model.metrics import METRICS
from fabriscope.reports.section import Paragraph, Section, Sections, Term, Terms

_HEAD = (
    "What is replicated is the launch, the start of a process: numbers from one launch are not independent of each "
    "other, so every interval and every test is taken over launches. Launches stand in blocks, each of which runs "
    "every entry once in random order; inside a launch all points of the sweep are visited in turn, in short bursts. "
    "Warm-up is recorded and not counted."
)

_READ = (
    "Everything here was read from logs: each number is the one that its program printed, each run in a log is a "
    "launch, and every interval is taken over launches. There are no samples, nobody saw what carried the bytes, and "
    "no block paired the launches: those of two entries are paired in the order of their files."
)
_CHOSEN = (
    "chosen by how much the first two blocks and the bursts inside launches differ, whoever leads in them; these two "
    "count like the others"
)
_LIMITS = (
    Term(
        "What the wire allows",
        "line rate × payload / (payload + 90\N{NO-BREAK SPACE}B for each segment): Ethernet 14, FCS 4, preamble 8, "
        "gap 12, IPv4 20, TCP with time stamps 32; a result more than 1\N{NO-BREAK SPACE}% beyond it is marked "
        "impossible, kept, and left out of every summary",
    ),
    Term(
        "What copying in memory allows",
        "where no wire limits a layer whose payload processors copy (TCP, shared memory, MPI inside one host): "
        "twice the rate at which one thread was seen to copy, for each thread that may copy a message (two for "
        "MPI), direction and pair; beyond it the same holds",
    ),
)

_MANY = Term(
    "Many verdicts at once",
    "of the sizes of a pair, in at most 5\N{NO-BREAK SPACE}% of runs any lead is false, and so any range or "
    "crossover made of leads, and in at most 5\N{NO-BREAK SPACE}% any “equivalent” (Hochberg); where "
    "nothing differs, the control raises an alarm over all that it looks at in at most 5\N{NO-BREAK SPACE}%, and a "
    "gate over all its pairs fails in at most 5\N{NO-BREAK SPACE}% (Simes; Benjamini and Hochberg)",
)


def _build(results: Results) -> list[Section]:
    measured = {row.metric_id for row in results.graded}
    metrics = [metric for name, metric in METRICS.items() if name in measured]
    terms = [Term(metric.title, metric.definition, metric.metric_id) for metric in metrics]
    terms += [*_values(results), *_LIMITS]
    head = _HEAD if results.run.manifest.plan.imported is None else _READ
    return [Section("method", "How it was measured", [Paragraph(head), Terms(terms)], "Method", is_page_only=True)]


def _values(results: Results) -> Iterator[Term]:
    """Yield how numbers become values, intervals and verdicts."""
    yield Term(
        "Value of a launch",
        "times (and the ping-pong bandwidth, which follows from one): the median over the medians of the bursts; "
        "other bandwidths: all bytes over all time; the latency of a victim: the mean of all operations",
    )
    yield _estimate(results.rules)
    if sentence := results.kept_state.sentence():
        yield Term("The machine from launch to launch", sentence)
    yield _comparison(results.rules)
    if (choice := results.run.manifest.choice) is not None:
        yield Term("Number of blocks", f"{choice_words(choice)}{'' if choice.because else f'; {_CHOSEN}'}")
    if results.run.once(turn_series):
        yield Term(
            "Ratio of launches that measured in turns",
            "of turns that are neighbours in time: the median over cycles of the ratio of times, of rates the ratio of "
            "the sums over the same cycles; the values beside it are those of whole launches",
        )
    yield _MANY


def _estimate(rules: Rules) -> Term:
    """Return what the number of a case is, by which rule its interval is taken, and what the interval cannot know."""
    free_from = FREE_FROM_ANYTIME if rules.method == ANYTIME else FREE_FROM
    return Term(
        "Value and interval",
        "median of the launch values; its 95\N{NO-BREAK SPACE}% interval, "
        f"{rules.unpaired_words}; from {free_from} launches on between order statistics, which ask for no shape; none "
        "for a single launch. A slow mode that few launches meet can stay unseen: all n miss it in one run of twenty "
        "or more where fewer than 1 − 0.05^(1/n) of them meet it, 45\N{NO-BREAK SPACE}% with 5, "
        "17\N{NO-BREAK SPACE}% with 16; where one side of a comparison alone has such a mode, neither the ratio's "
        "interval nor “equivalent” knows of it",
    )


def _comparison(rules: Rules) -> Term:
    """Return what a ratio is, and when it makes which verdict."""
    stated = (
        "; a lead is stated as large as it is given that it was shown, which is less than was measured where it was "
        "shown barely (ratios as measured are in comparisons.csv)"
    )
    return Term(
        "Comparison",
        f"geometric mean of the ratios inside each block, and not the quotient of the two medians beside it; interval "
        f"over blocks ({rules.words}); “equivalent” when the ratio is shown to lie "
        f"within {rules.margin * 100:g} % of 1, else “faster” or “slower” when it is shown to differ from 1, otherwise "
        "“undecided”; fewer than three blocks decide nothing; where the numbers go in steps, half a step of each side "
        f"belongs to the interval{stated if rules.method == FIXED else ''}",
    )


SECTION = Sections("method", 130, _build)
