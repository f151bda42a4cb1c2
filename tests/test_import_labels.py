"""Files of labels: what is written is taken as it is, and what is not meant is refused or named."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabriscope.model.errors import PlanError
from fabriscope.running import importing

LOG = "# OSU MPI Bandwidth Test v5.9\n# Size      Bandwidth (MB/s)\n1 0.73\n2 1.46\n4 2.92\n"


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "a.log").write_text(LOG)
    return tmp_path / "logs"


def imported(logs: Path, labels: str) -> importing.Imported:
    """Import with labels in a file; return what came of it."""
    path = logs.parent / "labels-of-mine.yaml"
    path.write_text(labels)
    return importing.run([logs], logs.parent / "run", {}, path)


def test_labels_are_what_is_written(logs: Path) -> None:
    done = imported(logs, "'*.log': {firmware: 0644, driver: 20.10, fabric: yes, date: 2026-01-01, base: 0x10}")
    assert not done.left_out
    assert len(done.entry_labels) == 1
    manifest = (done.path / "manifest.json").read_text()
    assert '"series": "firmware 0644, driver 20.10, date 2026-01-01, base 0x10"' in manifest
    assert '"fabric": "yes"' in manifest


@pytest.mark.parametrize(
    ("labels", "says"),
    [
        ("'*.log': {fabric: a}\n'*.log': {fabric: b}", "line 2: '*.log' stands twice"),
        ("'*.log': {fabric: a, fabric: b}", "line 1: 'fabric' stands twice"),
        ("'*.log': {fabric: }", "'*.log' has the label 'fabric' without a word"),
        ("'*.log': {fabric: ~}", "'*.log' has the label 'fabric' without a word"),
        ("'*.log': {fabric: [a]}", "'*.log' has the label 'fabric' without a word"),
        ("'*.log': roce", "'*.log' should be a mapping"),
        ("- roce", "labels should be a mapping"),
        ("", "labels should be a mapping"),
        ("'*.log': {hosts: a+}", "the hosts should be like a+b and are 'a+'"),
        ("'*.log': {fabric: \"\\e[31mred\"}", "a label has invisible characters"),
    ],
)
def test_what_is_no_label_is_refused(logs: Path, labels: str, says: str) -> None:
    with pytest.raises(PlanError) as caught:
        imported(logs, labels)
    assert says in str(caught.value)
    assert not (logs.parent / "run").exists()


def test_a_pattern_of_no_file_is_named(logs: Path) -> None:
    done = imported(logs, "'*.log': {fabric: roce}\n'roce/*.log': {mpi: openmpi}")
    assert [one.rpartition(": ")[2] for one in done.left_out] == ["the pattern 'roce/*.log' is that of no file"]


def test_a_pattern_beside_the_logs_is_named_too(logs: Path) -> None:
    (logs / "labels.yaml").write_text("'*.txt': {fabric: roce}\n'a*': {mpi: mpich}")
    done = importing.run([logs], logs.parent / "run", {})
    assert len(done.left_out) == 1
    assert "labels.yaml: the pattern '*.txt' is that of no file" in done.left_out[0]
