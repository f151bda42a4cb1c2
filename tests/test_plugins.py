"""Adding a thing is adding a file: one of each from a temporary folder, used by a real run."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import forked

ROOT = Path(__file__).parents[1]
TESTED = ("-DCMAKE_BUILD_TYPE=Dev", "-DCMAKE_CXX_FLAGS=-O2 -DNDEBUG", "-DFABRISCOPE_UNITY=0", "-DFABRISCOPE_WERROR=1")
ALONE = ("-DCMAKE_BUILD_TYPE=Debug",)

TRANSPORT = r"""
#include "fabriscope/transport.h"

namespace {
class Nowhere : public fabriscope::Transport {
  class Ends : public fabriscope::Endpoint {
    void send(const void*, std::size_t) override {}
    void recv(void*, std::size_t) override {}
    void reserve(std::size_t) override {}
    void post_send(const void*, std::size_t) override {}
    void post_recv(void*, std::size_t) override {}
    void wait_all() override {}
  };

 public:
  fabriscope::TransportCapabilities capabilities() const override { return {false, 0}; }
  std::unique_ptr<fabriscope::Endpoint> open(fabriscope::Rendezvous&, int,
                                             const fabriscope::OptionSet&) override {
    return std::make_unique<Ends>();
  }
};
}  // namespace

FABRISCOPE_REGISTER(transport_registry, "nowhere",
                    [](const fabriscope::Settings&) { return std::make_unique<Nowhere>(); })
"""

BENCHMARK = r"""
#include "fabriscope/benchmark.h"

namespace {
class OneWay : public fabriscope::Benchmark {
 public:
  void run(const fabriscope::BenchmarkContext& context, fabriscope::BurstTimer& timer) override {
    timer.run([&context] {
      if (context.rank == 0) {
        context.endpoint->send(context.send_buffer, context.message_size_bytes);
      } else {
        context.endpoint->recv(context.receive_buffer, context.message_size_bytes);
      }
    });
  }
  void verify(const fabriscope::BenchmarkContext& context, fabriscope::PayloadCheck& check) override {
    if (context.rank == 0) check.send(context.message_size_bytes);
    if (context.rank != 0) check.recv(context.message_size_bytes);
  }
};
}  // namespace

FABRISCOPE_REGISTER(benchmark_registry, "one_way", [] { return std::make_unique<OneWay>(); })
"""

OWN_METRIC = r"""
#include "fabriscope/benchmark.h"

namespace {
class KeyLookup : public fabriscope::Benchmark {
 public:
  bool moves_payload() const override { return false; }
  std::optional<fabriscope::OwnMetric> metric(std::size_t, std::size_t) const override {
    return fabriscope::OwnMetric{"key_lookup_op_per_s", 3};
  }
  void run(const fabriscope::BenchmarkContext& context, fabriscope::BurstTimer& timer) override {
    timer.run([&context] {
      for (int key = 0; key < 3; ++key) context.send_buffer[0] = static_cast<unsigned char>(key);
      if (context.rank == 0) {
        context.endpoint->send(context.send_buffer, context.message_size_bytes);
      } else {
        context.endpoint->recv(context.receive_buffer, context.message_size_bytes);
      }
    });
  }
};
}  // namespace

FABRISCOPE_REGISTER(benchmark_registry, "key_lookup", [] { return std::make_unique<KeyLookup>(); })
"""

ADAPTER = """
from fabriscope.model.command import Command
from fabriscope.model.measurement import CaseResult, ParsedLaunch, SampleBlock


class Echo:
    name = "echo"
    layers = None
    programs = ("echo",)

    def commands(self, launch, context):
        return (Command(("echo", "4200"), launch.entry.hosts[0]),)

    def parse(self, launch, outcomes):
        value = float(outcomes[0].stdout)
        blocks = tuple(SampleBlock(case.case_id, [value], "latency_ns") for case in launch.cases)
        return ParsedLaunch(blocks, tuple(CaseResult(case.case_id, "ok") for case in launch.cases))


ADAPTER = Echo()
"""

LAUNCHER = """
class Here:
    name = "here"

    def argv(self, job, stack):
        return job.argv

    def env(self, job, stack):
        return {}


LAUNCHER = Here()
"""

REPORT = """
class Count:
    name = "count"
    description = "how many launches there are"

    def render(self, run, out, options):
        path = out / "count.txt"
        path.write_text(str(len(run.journal)))
        return [path]


REPORT = Count()
"""

SECTION = """
from fabriscope.reports.section import Cell, Column, Paragraph, Section, Sections, Table


def build(results):
    rows = [[launch.launch_id, Cell("<b>=1+1</b>", "small print")] for launch in results.run.journal]
    table = Table([Column("launch", "number"), Column("says")], [[str(row[0]), row[1]] for row in rows])
    words = f"{len(results.run.journal)} launches stand in the journal."
    blocks = [Paragraph(words), table]
    return [Section("counted", "What was counted", blocks, brief=blocks)]


SECTION = Sections("counted", 65, build)
"""

FACT = """
from fabriscope.hosts.facts import Group

RELEASE = "/proc/sys/kernel/osrelease"
FACTS = Group("moon", lambda reading: [reading.fact("moon.phase", RELEASE)], globs=(RELEASE,))
"""

COMMAND = """
import click


@click.command(name="greet")
def COMMAND():
    click.echo("good morning")
"""

PLAN = """
name: plugins
hosts: localhost
placements: [intra]
layers: [tcp, nowhere]
instruments: [engine, echo]
benchmarks:
  one_way: {sizes: [64]}
  key_lookup: {sizes: [64]}
  ping_pong: {sizes: [64]}
launches: 1
budget: 200ms
floor: false
"""


@pytest.fixture(scope="module")
def plugins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plugins")
    files = {
        "transports/nowhere.cc": TRANSPORT,
        "benchmarks/one_way.cc": BENCHMARK,
        "benchmarks/key_lookup.cc": OWN_METRIC,
        "adapters/echo.py": ADAPTER,
        "launch/here.py": LAUNCHER,
        "reports/count.py": REPORT,
        "reports/sections/counted.py": SECTION,
        "hosts/facts/moon.py": FACT,
        "cli/greet.py": COMMAND,
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture(scope="module")
def environment(plugins: Path) -> Iterator[dict[str, str]]:
    (ROOT / "build").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="plugins-", dir=ROOT / "build") as folder:
        # As deep as the builds of scripts/test, and compiled like them: a compiler cache finds it all but the plug-ins.
        build = Path(folder) / "engine"
        configure = ["cmake", "-S", str(ROOT / "engine"), "-B", str(build), f"-DFABRISCOPE_PLUGIN_DIR={plugins}"]
        options = ["-DFABRISCOPE_TESTS=OFF", *(TESTED if "CMAKE_CXX_COMPILER_LAUNCHER" in os.environ else ALONE)]
        subprocess.run([*configure, *options], check=True, capture_output=True, timeout=120)
        subprocess.run(["cmake", "--build", build, "-j", "2"], check=True, capture_output=True, timeout=300)
        yield {**os.environ, "FABRISCOPE_BIN_DIR": str(build), "FABRISCOPE_PLUGINS": str(plugins)}


def _fabriscope(environment: dict[str, str], *words: str | Path) -> subprocess.CompletedProcess[str]:
    return forked.fabriscope(words, environment)


@pytest.mark.timeout(600)
def test_one_new_file_each(environment: dict[str, str], tmp_path: Path) -> None:
    plan, run = tmp_path / "plan.yaml", tmp_path / "run"
    plan.write_text(PLAN)
    ran = _fabriscope(environment, "run", plan, "-o", run)
    assert ran.returncode == 0, ran.stderr
    records = [json.loads(line) for line in (run / "journal.jsonl").read_text().splitlines()]
    assert {record["entry_id"] for record in records} == {
        "tcp.intra",
        "nowhere.intra",
        "tcp.intra.echo",
        "nowhere.intra.echo",
    }
    assert all(result["status"] == "ok" for record in records for result in record["results"].values())
    reported = _fabriscope(environment, "report", run, "--format", "count", "-o", tmp_path / "out")
    assert reported.returncode == 0, reported.stderr
    assert (tmp_path / "out" / "count.txt").read_text() == "4"
    estimates = _fabriscope(environment, "report", run, "--format", "csv", "-o", tmp_path / "csv")
    assert estimates.returncode == 0, estimates.stderr
    rows = _rows(tmp_path / "csv" / "estimates.csv")
    assert {row["metric_id"] for row in rows if row["benchmark"] == "one_way"} >= {"operation_time_ns"}
    own = {row["layer"]: row for row in rows if row["metric_id"] == "key_lookup_op_per_s"}
    assert {row["benchmark"] for row in own.values()} == {"key_lookup"}
    assert set(own) == {"tcp", "nowhere"}
    compared = _rows(tmp_path / "csv" / "comparisons.csv")
    pairs = [row for row in compared if row["metric_id"] == "key_lookup_op_per_s" and row["kind"] == "transport"]
    (pair,) = pairs
    assert (pair["left_layer"], pair["right_layer"]) == ("nowhere", "tcp")
    rates = {name: float(row["value"]) for name, row in own.items()}
    assert float(pair["ratio"]) == pytest.approx(rates["nowhere"] / rates["tcp"]), "more of a rate is faster"
    page = _fabriscope(environment, "report", run, "-o", tmp_path / "page")
    assert page.returncode == 0, page.stderr
    assert "kop/s" in (tmp_path / "page" / "report.html").read_text()
    _every_format_has_the_section(environment, run, tmp_path)
    manifest = json.loads((run / "manifest.json").read_text())
    (facts,) = [about["facts"] for about in manifest["hosts"].values()]
    assert [fact["value"] for fact in facts if fact["name"] == "moon.phase"] == [os.uname().release]
    assert _fabriscope(environment, "greet").stdout == "good morning\n"
    assert not json.loads(_fabriscope(environment, "verify", run, "--json").stdout)["findings"]


def _every_format_has_the_section(environment: dict[str, str], run: Path, folder: Path) -> None:
    written = _fabriscope(environment, "report", run, "--format", "markdown", "-o", folder / "markdown")
    assert written.returncode == 0, written.stderr
    html, markdown = (folder / "page" / "report.html").read_text(), (folder / "markdown" / "report.md").read_text()
    assert '<h2 id="counted">What was counted</h2>' in html
    assert "&lt;b&gt;=1+1&lt;/b&gt;<small>small print</small>" in html
    assert '<a href="#counted">What was counted</a>' in html
    places = [html.index(f'<h2 id="{anchor}"') for anchor in ("counted", "floor", "setup")]
    assert places == sorted(places)
    assert "## What was counted\n\n4 launches stand in the journal.\n\n| launch | says |" in markdown
    assert "| 1 | &lt;b&gt;=1+1&lt;/b&gt; (small print) |" in markdown
    table = _rows(folder / "csv" / "table-counted-1.csv")
    assert sorted(row["launch"] for row in table) == ["1", "2", "3", "4"]
    shown = _fabriscope(environment, "show", run).stdout
    assert "4 launches stand in the journal." in shown
    assert "<b>=1+1</b> (small print)" in shown
    section = json.loads(_fabriscope(environment, "show", run, "--json").stdout)["sections"]["counted"]
    assert section["text"] == ["4 launches stand in the journal."]
    assert ["1", "<b>=1+1</b> (small print)"] in section["tables"][0]["rows"]


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open() as text:
        return list(csv.DictReader(text))


def test_doctor_looks_for_what_an_instrument_from_a_folder_starts(
    plugins: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fabriscope.cli import _health

    known = {check.name for check in _health.tools(())}
    assert {"iperf3", "NPtcp", "IMB-MPI1", "ib_send_lat", "rping", "ethtool"} <= known
    assert "echo" not in known
    monkeypatch.setenv("FABRISCOPE_PLUGINS", str(plugins))
    (echo,) = [check for check in _health.tools(()) if check.name == "echo"]
    assert echo.status == "ok"
    monkeypatch.setenv("PATH", "/nowhere")
    (echo,) = [check for check in _health.tools(()) if check.name == "echo"]
    assert echo.text == "absent: what the instrument echo starts"


def test_a_launcher_from_a_folder_is_known(plugins: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from fabriscope.launch.mpi_jobs import wrap
    from fabriscope.model.command import Command
    from fabriscope.model.host import Host
    from fabriscope.model.mpi import MpiStack

    monkeypatch.setenv("FABRISCOPE_PLUGINS", str(plugins))
    stack = MpiStack("site", "here", "1", "/nowhere/mpirun", None)
    command = Command(("app",), "localhost", rank_hosts=("localhost", "localhost"))
    assert wrap(command, stack, {"localhost": Host("localhost")}, None, None).argv == ("app",)
