"""`plan check` says each fabric in words, and what may not be meant."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from fabriscope.cli import fabriscope
from fabriscope.model.errors import ToolMissing

ODD = """
name: odd
hosts: node[1-2]
fabrics:
  lossy: {lab: {preset: gige, delay: 5ms, loss: 10%}}
  fast: {lab: {rate: 100Gb/s}}
layers: [tcp, mpi]
mpi: [no-such-library]
benchmarks: {ping_pong: {sizes: 1..1KiB}}
budget: 28h
"""


def checked(folder: Path, text: str) -> str:
    path = folder / "plan.yaml"
    path.write_text(text)
    result = CliRunner().invoke(fabriscope, ["plan", "check", str(path)])
    assert result.exception is None or isinstance(result.exception, ToolMissing), result.output
    return f"{result.output}{result.exception or ''}"


def test_what_may_not_be_meant_is_said(tmp_path: Path) -> None:
    text = checked(tmp_path, ODD)
    for words in (
        "lossy: 1 Gb/s, delay 5 ms, buffer 512 KiB, MTU 1500 B, loses 10 % of all frames",
        "look again: lossy: 10 % of all frames are lost",
        "look again: fast: a lab's switch does not keep up with 100 Gb/s",
        "look again: it takes about 28.0 hours",
        "there is no MPI library 'no-such-library' on this machine",
    ):
        assert words in text, text


def test_launches_beside_what_is_asked_are_counted_by_name(tmp_path: Path) -> None:
    plain = "name: a\nhosts: node[1-2]\nfabrics: {g: {lab: gige}}\nbenchmarks: {ping_pong: {sizes: [1]}}\n"
    beside = "5 of the instrument's floor (null) and 5 of the A/A control"
    assert f"15 launches in all ({beside}), about" in checked(tmp_path, f"{plain}control: true\n")
    assert "5 launches in all, about" in checked(tmp_path, f"{plain}floor: false\n")


def test_a_size_is_read_at_a_glance_or_exact(tmp_path: Path) -> None:
    text = checked(
        tmp_path,
        "name: a\nhosts: node[1-2]\nfabrics: {g: {lab: {preset: gige, buffer: 1514}}}\n"
        "benchmarks: {ping_pong: {sizes: [1]}}\n",
    )
    assert "buffer 1514 B, MTU 1500 B" in text


def test_of_an_ordinary_plan_nothing_is_said(tmp_path: Path) -> None:
    plain = "name: a\nhosts: node[1-2]\nfabrics: {g: {lab: gige}}\nbenchmarks: {ping_pong: {sizes: [1]}}\n"
    text = checked(tmp_path, plain)
    assert "  g: 1 Gb/s, delay 5 µs" in text
    assert "look again" not in text
