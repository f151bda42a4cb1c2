"""What a plan tells IMB beside its benchmarks: repetitions, time, memory; what would be another quantity is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabriscope.adapters.base import AdapterContext
from fabriscope.adapters.imb import ADAPTER, JOB_PATIENCE
from fabriscope.model.case import Case, Entry
from fabriscope.model.errors import PlanError
from fabriscope.model.imb import REFUSED, ImbOptions
from fabriscope.model.manifest import PlanFacts
from fabriscope.model.measurement import Launch
from fabriscope.plan import load
from fabriscope.plan.imb_schema import ImbOptionsSection
from fabriscope.reports._set_words import told_to_suites
from fabriscope.running.vocabulary import vocabulary

PROGRAMS = {name: f"/imb/{name}" for name in ("IMB-MPI1", "IMB-NBC", "IMB-RMA")}
ENTRY = Entry("mpi", None, "intra", ("a", "a"), mpi="m", instrument="imb")
PLAN = """name: x
hosts: node[1-2]
fabrics: {{g: {{lab: gige}}}}
layers: [mpi]
mpi: [mpich]
instruments: [{instruments}]
imb_options: {options}
benchmarks: {{ping_pong: {{sizes: [64]}}}}
"""


def argv(options: ImbOptions, *cases: Case) -> list[tuple[str, ...]]:
    launch = Launch(1, 1, ENTRY, cases or (Case(ENTRY, "ping_pong", 64),), seed=1, budget_ns=10**9)
    context = AdapterContext({}, programs=PROGRAMS, case_timeout_ns=10**10, imb=options)
    return [command.argv for command in ADAPTER.commands(launch, context)]


def after(words: tuple[str, ...], name: str) -> str:
    return words[words.index(name) + 1]


def loaded(tmp_path: Path, options: str, instruments: str = "imb") -> ImbOptionsSection:
    path = tmp_path / "plan.yaml"
    path.write_text(PLAN.format(options=options, instruments=instruments))
    return load(path, vocabulary()).section.imb_options


def test_without_options_the_budget_says_how_long_a_size_takes() -> None:
    (words,) = argv(ImbOptions())
    assert (after(words, "-iter"), after(words, "-time")) == ("1000000,1000000", "1.000")
    assert not {"-mem", "-iter_policy", "-warm_up"} & set(words)


def test_options_are_passed_on_as_imb_has_them(tmp_path: Path) -> None:
    section = loaded(tmp_path, "{iter: '2000,40', iter_policy: off, time: 0.25, mem: 0.5, warm_up: on}")
    (words,) = argv(section.options())
    wanted = {"-iter": "2000,40", "-time": "0.250", "-iter_policy": "off", "-mem": "0.5", "-warm_up": "on"}
    assert {name: after(words, name) for name in wanted} == wanted


def test_a_number_of_repetitions_is_that_of_every_program() -> None:
    cases = (
        Case(ENTRY, "ping_pong", 64),
        Case(ENTRY, "ibcast", 64, parameters=(("timing", "barrier"),)),
        Case(ENTRY, "put_bandwidth", 64, 4, parameters=(("far_check", "0"), ("window_memory", "create"))),
    )
    found = {words[0].rpartition("/")[2]: after(words, "-iter") for words in argv(ImbOptions(500), *cases)}
    assert found == {"IMB-MPI1": "500,1000000", "IMB-NBC": "500,1000000", "IMB-RMA": "500,1000000,500"}
    found = {words[0].rpartition("/")[2]: after(words, "-iter") for words in argv(ImbOptions(500, 40, 7), *cases)}
    assert found["IMB-RMA"] == "500,40,7"


def test_a_job_may_take_as_long_as_its_sizes_are_told_to() -> None:
    launch = Launch(1, 1, ENTRY, (Case(ENTRY, "ping_pong", 64),), seed=1, budget_ns=10**9)
    context = AdapterContext({}, programs=PROGRAMS, case_timeout_ns=10**10, imb=ImbOptions(time_s=30.0))
    (command,) = ADAPTER.commands(launch, context)
    assert command.limit_s == JOB_PATIENCE * 30 + 10


@pytest.mark.parametrize("name", REFUSED)
def test_what_would_be_another_quantity_is_refused_with_what_to_write(tmp_path: Path, name: str) -> None:
    with pytest.raises(PlanError) as caught:
        loaded(tmp_path, f"{{{name}: 1}}")
    assert f"plan.yaml:7: imb_options: IMB is not told {name}: {REFUSED[name]}" in str(caught.value)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("{iter: many}", "write `iter: 1000`"),
        ("{iter: 0}", "write `iter: 1000`"),
        ("{iter: '1,2,3,4'}", "write `iter: 1000`"),
        ("{iter: true}", "write `iter: 1000`"),
        ("{iter_policy: fast}", "choose 'dynamic', 'multiple_np', 'auto' or 'off'"),
        ("{iter_policy: off}", "write `iter: 1000` beside it"),
        ("{time: 0}", "more than 0 is expected"),
        ("{time: true}", "true is not a number"),
        ("{mem_per_proc: 1}", "known: iter, iter_policy, mem, time, warm_up"),
    ],
)
def test_what_imb_cannot_be_told_is_one_sentence(tmp_path: Path, options: str, says: str) -> None:
    with pytest.raises(PlanError) as caught:
        loaded(tmp_path, options)
    assert says in str(caught.value)
    assert str(caught.value).count("plan.yaml:7") == 1


def test_options_without_the_program_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="it tells the Intel MPI Benchmarks what to do, and nothing runs them"):
        loaded(tmp_path, "{iter: 10}", instruments="engine")


def test_what_suites_were_told_stands_in_the_report() -> None:
    section = ImbOptionsSection.model_validate({"iter": "1000,40", "mem": 0.5, "iter_policy": False})
    plan = PlanFacts(
        osu_options={"iterations": 300, "validation": True, "percentiles": []},
        imb_options=section.model_dump(mode="json"),
    )
    assert dict(told_to_suites(plan)) == {
        "OSU was told": "iterations 300, validation on",
        "IMB was told": "iter 1000,40, iter_policy off, mem 0.5",
    }
    assert not dict(told_to_suites(PlanFacts()))
    assert ImbOptionsSection.model_validate(section.model_dump(mode="json")) == section
