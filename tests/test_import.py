"""Logs become a run: what they say stands in it, what they do not say stands nowhere, one bad file costs no other."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fabriscope import store
from fabriscope.analysis.results import results_of
from fabriscope.cli import fabriscope
from fabriscope.model.errors import ParseError, PlanError
from fabriscope.running import importing, log_labels

LATENCY = "# OSU MPI Latency Test v5.8\n# Size          Latency (us)\n{rows}"
BANDWIDTH = "# OSU MPI Bandwidth Test v5.8\n# Size      Bandwidth (MB/s)\n{rows}"


def osu(title: str, *values: float) -> str:
    return title.format(rows="".join(f"{2**place:<10}{value:20.2f}\n" for place, value in enumerate(values)))


def command(*words: object) -> Result:
    return CliRunner().invoke(fabriscope, [str(word) for word in words], catch_exceptions=False)


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    for fabric, base in (("roce", 2.0), ("eth", 5.0)):
        (tmp_path / "logs" / fabric).mkdir(parents=True)
        for number in range(6):
            text = osu(LATENCY, base + 0.01 * number, base + 1 + 0.01 * number)
            (tmp_path / "logs" / fabric / f"{number}.log").write_text(text)
    (tmp_path / "logs" / "labels.yaml").write_text(
        "'roce/*': {fabric: roce, mpi: openmpi}\n'eth/*': {fabric: eth, mpi: openmpi}\n"
    )
    return tmp_path / "logs"


def test_files_of_one_kind_are_replicates_and_labels_make_entries(logs: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    done = command("import", logs, "-o", run, "--label", "placement=inter")
    assert (done.exit_code, done.stderr) == (0, "")
    rows = results_of(store.open_run(run).read()).graded
    assert {(row.fabric, row.mpi, row.instrument, row.layer) for row in rows} == {
        ("roce", "openmpi", "osu", "mpi"), ("eth", "openmpi", "osu", "mpi"),
    }  # fmt: skip
    (least,) = [row for row in rows if row.fabric == "roce" and row.message_size_bytes == 1]
    assert (least.metric_id, least.launch_count, least.sample_count) == ("latency_ns_separate_mean", 6, 6)
    assert least.low is not None
    assert 1995 < least.low < least.value < 2050, "half a step of what OSU prints below the least"
    assert least.grade == "B"
    assert "read from logs" in (least.reasons or "")
    assert command("verify", run).exit_code == 0
    for word in ("show", "report"):
        assert command(word, run).exit_code == 0
    page = (run / "report" / "report.html").read_text()
    assert "Everything here was read from logs" in page
    assert "in random order" not in page
    pairs = json.loads(command("compare", run, "--left", "roce", "--right", "eth", "--json").stdout)["pairs"]
    assert {row["verdict"] for pair in pairs for row in pair["rows"]} == {"faster"}


def test_one_log_has_no_interval_and_nothing_is_guessed(tmp_path: Path) -> None:
    log = tmp_path / "one.log"
    log.write_text(osu(LATENCY, 2.0) + osu(BANDWIDTH, 1.0, 8.0))
    importing.run([log], tmp_path / "run", {})
    data = store.open_run(tmp_path / "run").read()
    rows = results_of(data).graded
    assert all(row.low is None and row.high is None and row.grade == "D" for row in rows)
    assert {(row.fabric, row.placement, row.mpi) for row in rows} == {("unstated", "unstated", None)}
    # the window is said nowhere, so that this is no bandwidth of ours
    assert {row.metric_id for row in rows} == {"latency_ns_separate_mean", "osu_bw_bandwidth_bytes_per_s"}
    importing.run([log], tmp_path / "said", {"window": "64"})
    rows = results_of(store.open_run(tmp_path / "said").read()).graded
    assert {(row.metric_id, row.window_size) for row in rows} == {
        ("latency_ns_separate_mean", 1), ("bandwidth_bytes_per_s", 64),
    }  # fmt: skip
    (record,) = data.journal
    assert record.details.read_from is not None
    assert (record.details.read_from.file, record.details.read_from.version) == (str(log), "5.8")


def test_a_test_again_in_one_file_is_a_launch_more(tmp_path: Path) -> None:
    log = tmp_path / "pairs.log"
    log.write_text(osu(LATENCY, 2.0) + osu(LATENCY, 2.1) + osu(LATENCY, 2.2))
    assert importing.run([log], tmp_path / "run", {}).launch_count == 3


def test_a_bad_file_is_named_and_the_others_are_imported(logs: Path, tmp_path: Path) -> None:
    (logs / "roce" / "noise.txt").write_text("nothing of use\n")
    (logs / "roce" / "odd.log").write_text(osu(LATENCY, 2.0).replace("(us)", "(ms)"))
    done = command("import", logs, "-o", tmp_path / "run")
    assert done.exit_code == 10
    assert "noise.txt: no known program wrote this" in done.stderr
    assert "odd.log, line 2: osu_latency has a column that is not known" in done.stderr
    assert "12 launches of 14 files" in done.stdout


def test_all_that_is_left_out_is_named_in_the_run(logs: Path, tmp_path: Path) -> None:
    for number in range(30):
        (logs / f"noise{number:02}.txt").write_text("nothing of use\n")
    done = command("import", logs, "-o", tmp_path / "run")
    assert done.exit_code == 10
    assert sum("left out: " in line for line in done.stderr.splitlines()) == 20
    assert f"and 10 more; {tmp_path / 'run' / 'plan.yaml'} names all, under left_out" in done.stderr
    named = json.loads((tmp_path / "run" / "plan.yaml").read_text())["left_out"]
    assert [f"noise{number:02}.txt" in named[number] for number in range(30)] == [True] * 30


@pytest.mark.parametrize(
    ("labels", "says"),
    [("fabric", "NAME=VALUE"), ("window=many", "number of messages"), ("placement=here", "inter or intra"),
     ("a=1,a=2", "once")],
)  # fmt: skip
def test_a_wrong_label_is_a_wrong_command_line(logs: Path, tmp_path: Path, labels: str, says: str) -> None:
    with pytest.raises(PlanError, match=says):
        importing.run([logs], tmp_path / "run", log_labels.parse_labels(labels))
    assert not (tmp_path / "run").exists()


def test_a_folder_that_cannot_be_searched_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As one with folders so deep that no path leads there."""

    def failing(_: Path, __: str) -> list[Path]:
        raise OSError(errno.ENAMETOOLONG, "File name too long")

    monkeypatch.setattr(Path, "rglob", failing)
    with pytest.raises(ParseError, match="what is in it cannot be listed: File name too long") as told:
        importing.run([tmp_path], tmp_path / "run", {})
    assert told.value.where == str(tmp_path)


def test_where_no_log_can_be_read_no_folder_is_left(tmp_path: Path) -> None:
    (tmp_path / "x.log").write_text("nothing\n")
    with pytest.raises(ParseError, match="no log could be read"):
        importing.run([tmp_path / "x.log"], tmp_path / "run", {})
    assert not (tmp_path / "run").exists()


READ = Path(__file__).parent / "readers/data"


@pytest.mark.parametrize(
    ("log", "said"),
    [
        ("hpl/failed.txt", "the result in line 47 is not right: check FAILED"),
        ("npb/unsuccessful.txt", "the result in line 23 is not right: verification UNSUCCESSFUL"),
        ("osu/full_tail_validate.txt", "the result in line 6 is not right: validation Fail"),
        ("nccl/wrong_elements.txt", "the result in line 15 is not right: 3 elements are wrong"),
    ],
)
def test_what_its_program_calls_wrong_is_left_out(log: str, said: str, tmp_path: Path) -> None:
    done = command("import", READ / log, READ / "npb/cg.txt", "-o", tmp_path / "run")
    assert done.exit_code == 10
    assert said in done.stderr


def test_rows_that_words_tell_apart_are_curves_and_others_are_left_out(tmp_path: Path) -> None:
    assert command("import", READ / "hpl/several.txt", "-o", tmp_path / "hpl").exit_code == 0
    cases = store.open_run(tmp_path / "hpl").read().manifest.cases.values()
    assert len({case.series for case in cases}) == len(cases) > 1
    done = command("import", READ / "iperf2/client.txt", "-o", tmp_path / "iperf")
    assert done.exit_code == 10
    told = "intervals: lines 8 to 13 have several rows of one size, and nothing here tells them apart"
    assert told in done.stderr
    assert {case.benchmark for case in store.open_run(tmp_path / "iperf").read().manifest.cases.values()} == {
        "iperf2_total"
    }


def test_one_step_of_what_is_printed_is_no_lead(tmp_path: Path) -> None:
    for fabric, values in (("a", (18.0, 40.0)), ("b", (19.0, 60.0))):
        (tmp_path / fabric).mkdir()
        for number in range(5):
            (tmp_path / fabric / f"{number}.log").write_text(osu(LATENCY, *values) + "\n" * number)
    (tmp_path / "labels.yaml").write_text("'a/*': {fabric: a}\n'b/*': {fabric: b}\n")
    assert command("import", tmp_path, "-o", tmp_path / "run").exit_code == 0
    (pair,) = json.loads(command("compare", tmp_path / "run", "--left", "a", "--right", "b", "--json").stdout)["pairs"]
    assert [row["verdict"] for row in pair["rows"]] == ["undecided", "faster"]


def test_a_case_of_which_some_launches_have_zero_is_left_out_whole_and_told(tmp_path: Path) -> None:
    for number, least in enumerate((0.0, 0.01, 0.0, 0.01, 0.01)):
        (tmp_path / f"{number}.log").write_text(osu(LATENCY, least, 2.0 + 0.01 * number, 3.0))
    done = command("import", *sorted(tmp_path.glob("*.log")), "-o", tmp_path / "run")
    assert done.exit_code == 10
    assert "of 1 B: 2 of 5 launches have 0, which is below what the program prints" in done.stderr.replace("\n", " ")
    rows = results_of(store.open_run(tmp_path / "run").read()).graded
    assert {row.message_size_bytes for row in rows} == {2, 4}
    (tmp_path / "zeros.log").write_text(osu(LATENCY, 0.0))
    with pytest.raises(ParseError, match="below what the program prints"):
        importing.run([tmp_path / "zeros.log"], tmp_path / "none", {})
