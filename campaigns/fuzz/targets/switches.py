"""Saved outputs and configurations of switches: read, looked through by the audit, and made ready."""

from __future__ import annotations

from collections.abc import Iterator

from campaigns.fuzz.targets import SAMPLES, Target
from tests.configure import test_settings_of_others as of_others
from tests.devices import test_configurations as written

from fabriscope import devices
from fabriscope.configure.step import Saved, Wanted, made_ready
from fabriscope.model.device import Device
from fabriscope.registry import discover

_DIALECTS = discover("configure", "DIALECT").plugins
_TEXTS = (
    *(written.EOS, written.ONYX, written.ONYX_PFC, written.NXOS, written.NVUE),
    *(of_others.NXOS, of_others.STRICT_NVUE),
)
_MOST_BYTES = 100_000
"""Of a sample, so that one of thousands of lines does not take all the time."""


def _session(text: str, command: str) -> bytes:
    return f"leaf1# terminal length 0\nleaf1# {command}\n{text}leaf1# ".encode()


def _configurations() -> Iterator[bytes]:
    yield from (text.encode() for text in _TEXTS)
    yield from (_session(text, "show running-config") for text in _TEXTS[:2])
    for path in sorted(SAMPLES.glob("audit/*/*")):
        if path.parent.name in _DIALECTS and path.stat().st_size < _MOST_BYTES:
            yield path.read_bytes()


def _device(text: bytes) -> Device:
    told = devices.of_texts("leaf1", [("leaf1.txt", text.decode("utf-8", "replace"))])
    for fact in told.known.facts:
        assert fact.value is None or isinstance(fact.value, str | bool | int), "a fact of another type"
        assert fact.value is not None or fact.unknown_because, "an unknown without a reason"
    for problem in told.problems:
        assert problem.strip(), "a problem without words"
    return told


def _is_read(text: bytes) -> bool:
    told = _device(text)
    return len(told.known.facts) > 1


def _is_made_ready(text: bytes) -> bool:
    told = _device(text)
    dialect = _DIALECTS.get(told.system)
    if dialect is None or told.problems:
        return False
    words = text.decode("utf-8", "replace")
    for wanted in (Wanted(), Wanted(5, 40, 4200, is_alone=True)):
        saved = Saved("leaf1", words, told.known, (), ())
        ready = made_ready(dialect, wanted, saved)
        for step in ready.steps:
            for line in (*step.do, *step.undo):
                assert line.isprintable(), "a line that is typed has a sign that cannot be seen"
        dialect.write(saved, ready)
    return True


TARGETS = (Target("devices", _configurations, _is_read), Target("configure", _configurations, _is_made_ready))
