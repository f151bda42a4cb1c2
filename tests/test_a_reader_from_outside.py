"""A reader of a made-up program, one file from outside of at most 60 lines, works with read, import and report."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from tests import forked

READER = '''
"""ringbench: every node of a ring passes a token on; `# ringbench 3, 8 nodes` and a line for each size."""

import re

from fabriscope.model.errors import ParseError
from fabriscope.readers.base import Column, Reader, printed_row
from fabriscope.readers.terms import ONE_WAY, Terms

COLUMNS = (
    Column("bytes", "message_size_bytes", "size", "bytes", "of the token", kind="whole"),
    Column("us", "lap_ns", "lap", "ns", "of one lap, the mean", 1e3),
    Column("MB/s", "bandwidth_bytes_per_s", "bandwidth", "bytes_per_s", "nodes times size over the lap", 1e6),
)
HEAD = re.compile(r"# ringbench (\\d+), (\\d+) nodes")


def fill(draft):
    nodes = 0
    for line in draft.lines():
        if head := HEAD.match(line):
            draft.version, nodes = head[1], int(head[2])
            draft.table("ring", COLUMNS)
            draft.table_parameter("process_count", nodes)
        elif nodes and line[:1].isdigit():
            row = printed_row(COLUMNS, line.split())
            if abs(row["bytes"] * nodes / row["us"] - row["MB/s"]) > 0.01 * row["MB/s"]:
                raise ParseError(f"{nodes} times {row['bytes']} B in {row['us']} us are not {row['MB/s']} MB/s")
            draft.row(row)
    if nodes and "# end" not in draft.text:
        draft.problem("the log ends before '# end'", "cut")


READER = Reader(
    "ringbench", "ringbench 3", re.compile("^# ringbench ", re.MULTILINE), fill,
    lambda table: Terms("all laps together, by the first node's clock", "", ONE_WAY),
)
'''.lstrip()
LOG = """# ringbench 3, 8 nodes
1000   100.0   {first}
2000   160.0   100.0
# end
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "plugins" / "readers").mkdir(parents=True)
    (tmp_path / "plugins" / "readers" / "ringbench.py").write_text(READER)
    return {**os.environ, "FABRISCOPE_PLUGINS": str(tmp_path / "plugins")}


def fabriscope(environment: dict[str, str], *words: object) -> subprocess.CompletedProcess[str]:
    return forked.fabriscope([str(word) for word in words], environment)


def test_it_is_read_imported_and_reported(environment: dict[str, str], tmp_path: Path) -> None:
    assert len(READER.splitlines()) <= 60
    logs = tmp_path / "logs"
    logs.mkdir()
    for number in range(3):
        (logs / f"{number}.log").write_text(LOG.format(first=80.0 + number / 10))
    read = fabriscope(environment, "read", "--json", logs / "0.log")
    assert read.returncode == 0, read.stderr
    (document,) = json.loads(read.stdout)["documents"]
    (table,) = document["tables"]
    assert (document["program"], document["version"], table["name"]) == ("ringbench", "3", "ring")
    assert table["rows"][0]["values"] == {
        "message_size_bytes": 1000,
        "lap_ns": 100000,
        "bandwidth_bytes_per_s": 80000000,
    }
    assert table["terms"]["bytes_counted"] == "once, in one direction"
    run = tmp_path / "run"
    done = fabriscope(environment, "import", logs, "-o", run, "--label", "fabric=roce,placement=inter")
    assert done.returncode == 0, done.stderr
    assert "3 launches of 3 files" in done.stdout
    assert fabriscope(environment, "report", run).returncode == 0
    page = (run / "report" / "report.html").read_text()
    assert "ringbench" in page
    assert "ringbench_ring_bandwidth_bytes_per_s" in page
    # what was imported needs its reader no more
    alone = {name: value for name, value in environment.items() if name != "FABRISCOPE_PLUGINS"}
    assert fabriscope(alone, "verify", run).returncode == 0
    assert fabriscope(alone, "show", run).returncode == 0
    unknown = fabriscope(alone, "read", logs / "0.log")
    assert (unknown.returncode, "no known program wrote this" in unknown.stderr) == (2, True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (LOG.format(first=80.0).replace("# end\n", ""), "line 3: the log ends before '# end'"),
        (LOG.format(first=70.0), "line 2: 8 times 1000 B in 100.0 us are not 70.0 MB/s"),
        (
            LOG.format(first=80.0).replace("2000   160.0", "2000"),
            "line 3: the row has 2 words, and the table 3 columns",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_line(environment: dict[str, str], tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "wrong.log").write_text(text)
    read = fabriscope(environment, "read", tmp_path / "wrong.log")
    assert (read.returncode, read.stderr.count("\n")) == (2, 1)
    assert said in read.stderr
