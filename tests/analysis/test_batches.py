"""Samples are read a few launches at a time, those of a small run at once, and come to the same either way."""

from __future__ import annotations

import pytest
from polars.testing import assert_frame_equal
from tests.analysis.made_up import Shape, write_run

from fabriscope import store
from fabriscope.analysis.values import batches as batching
from fabriscope.analysis.values.batches import BATCHES, SMALL_BYTES, batches
from fabriscope.analysis.values.bursts import bursts
from fabriscope.analysis.values.launch_values import all_launch_values
from fabriscope.analysis.values.tails import launch_tails
from fabriscope.model.run_data import RunData

SHAPE = Shape(sizes=(1, 1024), launch_count=6, samples_per_burst=3)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> store.RunFolder:
    return write_run(tmp_path_factory.mktemp("runs") / "run", SHAPE)


def of_bytes(written: store.RunFolder, most: int, monkeypatch: pytest.MonkeyPatch) -> RunData:
    """Return the run, read afresh, where a small one has at most so many bytes."""
    monkeypatch.setattr(batching, "SMALL_BYTES", most)
    return written.read()


def test_a_small_run_is_read_at_once_and_another_in_parts(
    written: store.RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [record.launch_id for record in written.read().journal]
    size = sum(path.stat().st_size for path in (written.path / "samples").iterdir())
    assert size < SMALL_BYTES
    assert batches(of_bytes(written, size, monkeypatch), reversed(ids)) == [sorted(ids)]
    parts = batches(of_bytes(written, size - 1, monkeypatch), reversed(ids))
    assert len(ids) > BATCHES >= len(parts) > 1
    assert [one for part in parts for one in part] == sorted(ids)
    assert batches(written.read(), []) == []


def test_what_samples_come_to_does_not_depend_on_how_they_are_read(
    written: store.RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    together, apart = of_bytes(written, SMALL_BYTES, monkeypatch), written.read()
    at_once = [bursts(together), all_launch_values(together)], launch_tails(together)
    monkeypatch.setattr(batching, "SMALL_BYTES", 0)
    assert len(batches(apart, (record.launch_id for record in apart.journal))) > 1
    for frame, expected in zip((bursts(apart), all_launch_values(apart)), at_once[0], strict=True):
        assert_frame_equal(frame, expected)
    assert launch_tails(apart) == at_once[1] != []
