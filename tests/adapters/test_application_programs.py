"""Applications: what their programs are told, and what is made of what they say, recorded from real runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from fabriscope.adapters._hpl_input import lines
from fabriscope.adapters._peak import of as peak_of
from fabriscope.adapters.base import AdapterContext
from fabriscope.adapters.hpl import HplAdapter
from fabriscope.adapters.npb import NpbAdapter
from fabriscope.adapters.npb_reference import NpbReferenceAdapter
from fabriscope.model.case import Case, Entry
from fabriscope.model.command import Command, Outcome
from fabriscope.model.errors import ParseError, ToolMissing
from fabriscope.model.host import Host
from fabriscope.model.measurement import Launch, ParsedLaunch
from fabriscope.model.metrics import metrics_of

READERS = Path(__file__).parents[1] / "readers" / "data" / "npb"
HPCC = (Path(__file__).parent / "application_data" / "hpcc.txt").read_text()
"""hpcc 1.5.0 of Debian, N = 1000 on two ranks, by our own shell around it."""
HPL_TOLD = {
    "n": "1000",
    "nb": "64",
    "rows": "1",
    "columns": "2",
    "threads": "1",
    "clock_hz": "2450000000",
    "flop_per_cycle": "16",
    "time_limit_s": "60",
}


def launch(instrument: str, *cases: tuple[str, dict[str, str]], ranks: int = 2) -> Launch:
    entry = Entry("mpi", "gige", "inter", ("a", "b") * (ranks // 2), "openmpi", instrument)
    made = tuple(Case(entry, name, 0, parameters=tuple(told.items())) for name, told in cases)
    return Launch(1, 1, entry, made, seed=1, budget_ns=0)


def outcome(text: str, exit_status: int | None = 0, *, timed_out: bool = False, stderr: str = "") -> Outcome:
    command = Command(("program",), "a")
    return Outcome(command, exit_status, text.encode(), stderr.encode(), 0, 60 * 10**9, timed_out)


def context(npb: str | None = None, programs: Mapping[str, str] | None = None) -> AdapterContext:
    return AdapterContext({name: Host(name) for name in ("a", "b")}, npb=npb, programs=programs or {})


def values(parsed: ParsedLaunch) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for block in parsed.blocks:
        found.setdefault(block.quantity, []).extend(block.values)
    return found


NPB = launch(
    "npb", ("nas_ft_s", {"repeats": "2", "time_limit_s": "60"}), ("nas_mg_s", {"repeats": "1", "time_limit_s": "9"})
)


def test_each_kernel_is_a_job_of_its_own_that_is_nobody_elses_end() -> None:
    first, second = NpbAdapter().commands(NPB, context(npb="/x/fabriscope-npb"))
    assert first.argv == ("/x/fabriscope-npb", "ft", "S", "--repeat", "2")
    assert second.argv == ("/x/fabriscope-npb", "mg", "S", "--repeat", "1")
    assert (first.is_alone, first.limit_s, second.limit_s, first.rank_hosts) == (True, 60, 9, ("a", "b"))
    *_, before_last, last = [
        line for line in (READERS / "ours.txt").read_text().splitlines() if '"kernel":"ft"' in line
    ]
    assert re.search(first.last_line or "", last) and not re.search(first.last_line or "", before_last)
    with pytest.raises(ToolMissing, match="not compiled"):
        NpbAdapter().commands(NPB, context())


def test_our_kernels_rate_time_and_communication_are_what_they_print() -> None:
    lines_of = (READERS / "ours.txt").read_text().splitlines(keepends=True)
    ft, mg = ("".join(line for line in lines_of if f'"kernel":"{name}"' in line) for name in ("ft", "mg"))
    parsed = NpbAdapter().parse(NPB, [outcome(ft), outcome(mg)])
    assert [result.status for result in parsed.results] == ["ok", "ok"]
    by_case = {case.benchmark: case.case_id for case in NPB.cases}
    rates = [block.values[0] for block in parsed.blocks if block.quantity == "nas_rate_op_per_s"]
    printed = [float(one) * 1e6 for one in re.findall(r'"mops":([0-9.e+]+)', ft + mg)]
    assert rates == pytest.approx(printed)
    times = [block.values[0] for block in parsed.blocks if block.quantity == "time_to_solution_ns"]
    assert times == pytest.approx([int(one) for one in re.findall(r'"time_ns":(\d+)', ft + mg)])
    bursts = [
        block.burst
        for block in parsed.blocks
        if (block.case_id, block.quantity) == (by_case["nas_ft_s"], "nas_rate_op_per_s")
    ]
    assert bursts == [0, 1]
    assert set(values(parsed)) == set(metrics_of("nas_ft_s"))


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (lambda: outcome((READERS / "ours_damaged.txt").read_text(), 3), "its verification failed: "),
        (lambda: outcome((READERS / "ours_refused.txt").read_text(), 2), "BT class S cannot use 2 ranks"),
        (lambda: outcome("", None, timed_out=True), "it was ended at its time limit, 60 s"),
        (lambda: outcome((READERS / "ours.txt").read_text()[:900], None, timed_out=True), "its time limit, 60 s"),
        (lambda: outcome("", -9), "was ended by signal 9"),
        (lambda: outcome("", 0), "ended with exit status 0, saying nothing"),
    ],
)
def test_what_was_not_verified_has_no_number(said: Callable[[], Outcome], reason: str) -> None:
    asked = launch("npb", ("nas_is_s", {"repeats": "1", "time_limit_s": "60"}))
    parsed = NpbAdapter().parse(asked, [said()])
    assert not parsed.blocks
    assert [(result.status, reason in (result.reason or "")) for result in parsed.results] == [("failed", True)], parsed


@pytest.mark.parametrize(("phases", "share"), [("[]", None), ('[{"kind":"compute","ns":[1,2,3]}]', "refused")])
def test_phases_of_other_ranks_are_refused_and_none_tell_no_share(phases: str, share: str | None) -> None:
    (text,) = (
        line
        for line in (READERS / "ours.txt").read_text().splitlines(keepends=True)
        if "mg" in line[:80] and "mops" in line
    )
    text = re.sub(r'"phases":\[.*\]', f'"phases":{phases}', text)
    parsed = NpbAdapter().parse(launch("npb", ("nas_mg_s", {"repeats": "1", "time_limit_s": "60"})), [outcome(text)])
    (result,) = parsed.results
    if share is None:
        assert result.status == "ok"
        assert "computing_percent" not in values(parsed)
    else:
        assert "a phase has the times of 3 ranks, and 2 took part" in (result.reason or "")


def test_a_result_of_another_problem_or_of_fewer_ranks_is_refused() -> None:
    text = (READERS / "ours_damaged.txt").read_text().replace('"verified":false', '"verified":true')
    text = text.replace('"passed":false', '"passed":true')
    for kernel, ranks, says in (("mg", 2, "it is IS of class S, and MG"), ("is", 4, "2 ranks took part, and 4")):
        asked = launch("npb", (f"nas_{kernel}_s", {"repeats": "1", "time_limit_s": "60"}), ranks=ranks)
        (result,) = NpbAdapter().parse(asked, [outcome(text)]).results
        assert result.status == "failed" and says in (result.reason or "")


def test_the_reference_is_run_from_its_folder_and_read_as_it_prints() -> None:
    asked = launch("npb-reference", ("nas_cg_w", {"folder": "/opt/npb", "time_limit_s": "60"}))
    (command,) = NpbReferenceAdapter().commands(asked, context())
    assert command.argv == ("/opt/npb/cg.W.x",)
    text = (READERS / "cg.txt").read_text()
    (size,) = re.findall(r"Class\s+=\s+(\w)", text)
    (ranks,) = (int(one) for one in re.findall(r"Total processes\s+=\s+(\d+)", text))
    asked = launch("npb-reference", (f"nas_cg_{size.lower()}", {"folder": "/x", "time_limit_s": "60"}), ranks=ranks)
    parsed = NpbReferenceAdapter().parse(asked, [outcome(text)])
    assert [result.reason for result in parsed.results] == [None]
    assert values(parsed)["nas_rate_op_per_s"] == [
        pytest.approx(float(re.findall(r"Mop/s total\s+=\s+([\d.]+)", text)[0]) * 1e6)
    ]


def test_hpl_has_the_input_of_the_plan_and_threads_are_pinned() -> None:
    asked = launch("hpl", ("hpl", HPL_TOLD))
    (command,) = HplAdapter().commands(asked, context(programs={"hpcc": "/usr/bin/hpcc"}))
    program, written = command.argv[4:6]
    assert program == "/usr/bin/hpcc"
    told = written.split("|")
    assert told == list(lines(HPL_TOLD)) and len(told) == 36
    assert [told[place].split()[0] for place in (5, 7, 10, 11)] == ["1000", "64", "1", "2"]
    assert set(command.env.values()) == {"1"} and "OMP_NUM_THREADS" in command.env
    (named,) = HplAdapter().commands(launch("hpl", ("hpl", {**HPL_TOLD, "program": "/my/xhpl"})), context())
    assert named.argv[4] == "/my/xhpl"
    with pytest.raises(ToolMissing, match="neither xhpl nor hpcc"):
        HplAdapter().commands(asked, context())


def test_hpl_and_hpcc_give_what_they_print_and_the_shares_that_follow() -> None:
    parsed = HplAdapter().parse(launch("hpl", ("hpl", HPL_TOLD)), [outcome(HPCC)])
    assert [result.reason for result in parsed.results] == [None]
    found = {name: value for name, (value,) in values(parsed).items()}
    assert set(found) == set(metrics_of("hpl"))
    row = re.search(r"^WR\S+ +1000 +64 +1 +2 +([\d.]+) +([\d.e+-]+)", HPCC, re.MULTILINE)
    assert row is not None
    rate = float(row[2]) * 1e9
    assert found["linpack_flop_per_s"] == pytest.approx(rate)
    assert found["time_to_solution_ns"] == pytest.approx(float(row[1]) * 1e9)
    assert found["linpack_of_peak_percent"] == pytest.approx(100 * rate / (2 * 2.45e9 * 16))

    def stated(label: str) -> float:
        return float(re.findall(rf"^{label}=(\S+)$", HPCC, re.MULTILINE)[0])

    assert found["linpack_of_dgemm_percent"] == pytest.approx(100 * rate / (2e9 * stated("StarDGEMM_Gflops")))
    assert found["random_ring_latency_ns"] == pytest.approx(1e3 * stated("RandomlyOrderedRingLatency_usec"))
    assert found["natural_ring_bandwidth_bytes_per_s"] == pytest.approx(
        1e9 * stated("NaturallyOrderedRingBandwidth_GBytes")
    )
    assert found["random_access_per_s"] == pytest.approx(1e9 * stated("MPIRandomAccess_GUPs"))


def with_failed_residual() -> str:
    text = re.sub(r"(=\s+)\S+ \.+ PASSED", r"\g<1>99.0000 ...... FAILED", HPCC)
    text = text.replace("      1 tests completed and passed", "      0 tests completed and passed")
    return text.replace("      0 tests completed and failed", "      1 tests completed and failed")


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (outcome(with_failed_residual()), "the residual check of N = 1000 failed"),
        (outcome("", None, timed_out=True), "it was ended at its time limit, 60 s"),
        (outcome("", 127, stderr="fabriscope: there is no xhpl on b\n"), "there is no xhpl on b"),
        (outcome("HPL ERROR from process # 0: cannot open file HPL.dat\n"), "HPL says: 'HPL ERROR"),
    ],
)
def test_hpl_that_failed_has_no_number(said: Outcome, reason: str) -> None:
    parsed = HplAdapter().parse(launch("hpl", ("hpl", HPL_TOLD)), [said])
    assert not parsed.blocks
    assert [(one.status, reason in (one.reason or "")) for one in parsed.results] == [("failed", True)], parsed.results


def test_hpl_of_another_order_is_refused() -> None:
    with pytest.raises(ParseError, match="its matrix order is 1000, and 2000 was asked for"):
        HplAdapter().parse(launch("hpl", ("hpl", {**HPL_TOLD, "n": "2000"})), [outcome(HPCC)])


def test_the_nominal_peak_names_its_sources() -> None:
    said = "fabriscope cpu model:  X CPU @ 2.60GHz\nfabriscope cpu MHz:  3400.1\n"
    said += "fabriscope cpu sets: sse2 fma avx avx512f \n"
    peak = peak_of(said, {})
    assert peak is not None
    assert (peak.clock_hz, peak.flop_per_cycle, peak.clock_from) == (2.6e9, 32, "the processor's name")
    assert peak.flop_from.startswith("AVX-512")
    told = peak_of(said, {"clock_hz": "2000000000", "flop_per_cycle": "8"})
    assert told is not None and (told.flop_per_s, told.clock_from, told.flop_from) == (16e9, "the plan", "the plan")
    assert peak_of("fabriscope cpu model: \n", {}) is None
