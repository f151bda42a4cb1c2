"""The papers' data, and the plans that re-run them: each is shortened, run in a lab, and reported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from tests import forked, needs

from fabriscope import store
from fabriscope.analysis.papers.selections import METRIC, attributes, matches
from fabriscope.analysis.papers.statements import FAILS, HOLDS, OPEN
from fabriscope.analysis.results import results_of
from fabriscope.analysis.values.streams import windows_by_launch
from fabriscope.cli.report import COMMAND as REPORT
from fabriscope.plan import expand, load
from fabriscope.plan.paper import PaperSection
from fabriscope.plan.paper_names import problems, resolve
from fabriscope.plan.yaml_places import read
from fabriscope.reports._paper_figures import paper_figures
from fabriscope.running.site import planned_fabrics
from fabriscope.running.vocabulary import vocabulary

PAPERS = Path(__file__).parents[1] / "examples" / "papers"
DEBIAN_MPICH = "/usr/bin/mpiexec.mpich"
ABSENT = {
    "sandia-roce": ["omni-path"],
    "sandia-hpl": [
        "roce-arista-pause", "roce-bad-pause", "roce-lossy", "roce-mtu-1500", "roce-sn2700", "tcp-sn2700", "omni-path",
        "8-KiB", "100-kB", "1-MB",
    ],
}  # fmt: skip
"""What a plan has nothing for, and says so."""
PLANS = ("e325-netpipe", "fdr-40gige", "sandia-hpl", "sandia-roce", "softroce-imb-osu", "softroce-osu")


def _paper(path: Path) -> PaperSection:
    return PaperSection.model_validate(read(path)[0].data)


@pytest.mark.parametrize("path", sorted(PAPERS.glob("*.paper.yaml")), ids=lambda path: path.name)
def test_a_papers_data_can_be_read(path: Path) -> None:
    paper = _paper(path)
    resolved = resolve(paper, {}, {})
    claims = [claim for figure in resolved["figures"] for claim in figure["claims"]] + resolved["claims"]
    assert len(claims) >= 10
    assert all(claim["metric_id"] and claim["say"] for claim in claims)
    # What no plan re-runs yet may name metrics that are still to come, and nothing else may be wrong.
    is_planned = path.name.split(".")[0] in PLANS
    wrong = [what for _, what, _ in problems(paper) if "unknown metric" not in what or is_planned]
    assert wrong == []


def test_there_are_five_papers() -> None:
    assert len(list(PAPERS.glob("*.paper.yaml"))) == 5


@pytest.mark.parametrize("name", PLANS)
def test_every_name_of_a_plans_paper_stands_for_something(name: str) -> None:
    if name.startswith("sandia"):
        needs.transport("verbs")
    plan = load(PAPERS / f"{name}.yaml", vocabulary())
    assert plan.paper is not None
    absent = ABSENT.get(name, [])
    assert [one["name"] for one in plan.paper["names"] if not one["stands"]] == absent
    curves = [curve for figure in plan.paper["figures"] for curve in figure["draw"]["curves"]]
    curves += [cell for table in plan.paper["tables"] for row in table["rows"] for cell in row["cells"]]
    assert {curve["missing"] for curve in curves} - {None} == set(absent)


def _shortened(name: str, folder: Path, changes: Mapping[str, Any], sizes: Mapping[str, Any]) -> Path:
    """Write the plan with two launches of few sizes, and its paper beside it; return the plan."""
    plan: dict[str, Any] = yaml.safe_load((PAPERS / f"{name}.yaml").read_text())
    plan |= {"launches": 2, "budget": "2s", **changes}
    for benchmark, sweep in plan["benchmarks"].items():
        sweep["sizes"] = sizes[benchmark if benchmark in sizes else ""]
    (folder / plan["paper"]["file"]).write_text((PAPERS / plan["paper"]["file"]).read_text())
    path = folder / "plan.yaml"
    path.write_text(yaml.safe_dump(plan))
    return path


def _run(plan: Path, folder: Path) -> Any:
    """Run and report a plan as a user would; return what the report shows."""
    done = forked.fabriscope(["run", plan, "-o", folder], timeout_s=1000)
    assert done.returncode == 0, done.stderr + done.stdout
    reported = CliRunner().invoke(REPORT, [str(folder), "--format", "html", "--format", "markdown"])
    assert reported.exit_code == 0, reported.output
    assert "The paper, re-run" in (folder / "report" / "report.html").read_text()
    return results_of(store.open_run(folder).read())


def test_two_suites_measure_the_same_cases_and_every_claim_names_some_of_them() -> None:
    plan = load(PAPERS / "softroce-imb-osu.yaml", vocabulary())
    cases = list(expand(plan, planned_fabrics(plan)).cases.values())
    of_suite = {
        suite: {(case.entry.fabric, case.benchmark, case.message_size_bytes) for case in cases
                if case.entry.instrument == suite}
        for suite in ("engine", "imb", "osu")
    }  # fmt: skip
    assert of_suite["engine"] == of_suite["imb"] == of_suite["osu"]
    named = [attributes(case).named for case in cases]
    assert plan.paper is not None
    claims = [claim for figure in plan.paper["figures"] for claim in figure["claims"]] + plan.paper["claims"]
    for claim in claims:
        for curve in (*claim["of"], *claim["than"]):
            select = {name: value for name, value in curve["select"].items() if name != METRIC}
            assert any(matches(one, select, "message_size_bytes") for one in named), (claim["say"], curve["label"])
            assert ("parts" in curve) == (curve["label"] == "OSU"), "where there is no OSU, ours stands for it"
    assert len(claims) == 19


@pytest.fixture
def lab() -> None:
    needs.lab()


@pytest.mark.usefixtures("lab")
def test_e325_runs_without_mpi(tmp_path: Path) -> None:
    plan = _shortened("e325-netpipe", tmp_path, {"layers": ["tcp"], "mpi": []}, {"": [1, 1024, 65536]})
    results = _run(plan, tmp_path / "run")
    findings = {finding.claim.say: finding for _, finding in results.paper.all_findings()}
    assert len(findings) == 18
    assert {finding.verdict for finding in findings.values()} <= {HOLDS, FAILS, OPEN}
    assert "no interval" not in findings["raw TCP is nearly the same on every card"].evidence
    no_mpi = findings["no MPI overhead on Myrinet"]
    assert (no_mpi.verdict, no_mpi.evidence) == (OPEN, "myrinet MPI: not measured here")
    ids = [figure.figure_id for figure in paper_figures(results)]
    assert ids == ["paper-fig1", "paper-fig2", "paper-fig3", "paper-fig4", "paper-socket-buffer",
                   "paper-interrupt-coalescing"]  # fmt: skip
    (table,) = results.paper.tables
    measured = [names for names, cells in table.rows if cells[0].value is not None]
    assert measured == [names for names, _ in table.rows if names[2] == "TCP"]
    assert (tmp_path / "run" / "e325-netpipe.paper.yaml").read_text() == (
        PAPERS / "e325-netpipe.paper.yaml"
    ).read_text()
    again = forked.fabriscope(["run", "--resume", tmp_path / "run", "--json"])
    assert again.returncode == 0, again.stderr


@pytest.mark.usefixtures("lab")
@pytest.mark.timeout(1200)  # guests share the processors of a busy machine
def test_softroce_runs(tmp_path: Path) -> None:
    needs.soft_roce()
    needs.mpi_library("mpich", DEBIAN_MPICH)
    needs.cpu_shares()
    sizes = {"": [64], "bcast": [256, 512, 1024]}
    results = _run(_shortened("softroce-osu", tmp_path, {"launches": 1}, sizes), tmp_path / "run")
    findings = [finding for _, finding in results.paper.all_findings()]
    assert len(findings) == 10
    assert {finding.verdict for finding in findings} <= {HOLDS, FAILS, OPEN}
    dips = next(finding for finding in findings if "dips" in finding.claim.say)
    assert len(dips.points) == 1
    figures = list(paper_figures(results))
    assert [figure.figure_id for figure in figures] == [f"paper-fig{number}" for number in range(2, 10)]
    assert {row.series for row in figures[3].rows} == {
        "ethernet 1-pair", "ethernet 2-pairs", "soft-roce 1-pair", "soft-roce 2-pairs",
    }  # fmt: skip


KEPT_OF_SANDIA = {"roce-pfc": ["verbs", "mpi"], "roce-bad-pause": ["verbs"], "tcp-dropping": ["tcp"]}
"""Layers of fabrics: one that stops its senders by priority, one that stops whole links, one that drops."""


def _least_of_sandia() -> dict[str, Any]:
    """Return the changes that leave one launch of each kind of the plan's, on two guests."""
    plan = yaml.safe_load((PAPERS / "sandia-roce.yaml").read_text())
    selects = {name: one["select"] for name, one in plan["paper"]["here"].items()}
    absent = {name for name, one in selects.items() if one.get("fabric", "roce-pfc") not in KEPT_OF_SANDIA} | {"tcp"}
    plan["benchmarks"]["many_to_one"]["duration"] = "300ms"
    return {
        "launches": 1,
        "hosts": "g[1-2]",
        "fabrics": {name: plan["fabrics"][name] | {"layers": layers} for name, layers in KEPT_OF_SANDIA.items()},
        "many_to_one": {"to": "g1", "from": "g2", "streams": [2]},
        "benchmarks": plan["benchmarks"],
        "paper": plan["paper"]
        | {"here": {name: one for name, one in plan["paper"]["here"].items() if name not in absent}},
    }


@pytest.mark.usefixtures("lab")
@pytest.mark.timeout(1200)  # guests share the processors of a busy machine
def test_sandia_runs(tmp_path: Path) -> None:
    needs.soft_roce()
    needs.mpi_library("mpich", DEBIAN_MPICH)
    sizes = {"many_to_one": [8192], "ping_pong": [0], "bandwidth": [4096]}  # 64 KiB would take 3 s a window
    results = _run(_shortened("sandia-roce", tmp_path, _least_of_sandia(), sizes), tmp_path / "run")
    findings = {finding.claim.say: finding for _, finding in results.paper.all_findings()}
    assert {finding.verdict for finding in findings.values()} <= {HOLDS, FAILS, OPEN}
    # A point of each fabric, and a state of each: the number of streams is the axis. One launch made each of them:
    # there is none where it failed, or where a busy machine began the streams too far apart for a sum, as the run says.
    steady = findings["steady throughput at 8 KiB"]
    assert "not measured at 1 stream, 10 streams" in steady.evidence
    points = {point.case_id for curve in results.incast_curves for point in curve.points}
    failed = {failure.case_id for failure in results.failed if failure.reason}
    refused = {
        case_id
        for (_, case_id), windows in windows_by_launch(results.run).items()
        if not any(window.is_comparable for window in windows)
    }
    assert points
    assert not points & (failed | refused)
    cases = results.run.manifest.cases
    known = (cases[case_id] for case_id in points | failed | refused)
    assert Counter(case.entry.fabric for case in known if case.benchmark == "many_to_one") == dict.fromkeys(
        KEPT_OF_SANDIA, 1
    )
    assert "omni-path" in findings["the benefit is small"].evidence
    # Nothing was lost where the switch pauses in time.
    in_time = [curve for curve in results.incast_curves if curve.curve.fabric == "roce-pfc"]
    assert all(point.evidence.dropped_frames == 0 for curve in in_time for point in curve.points)
