"""What programs and hosts said is shown, and a terminal obeys nothing of it."""

from __future__ import annotations

import pytest
from tests.test_progress import ENTRY, S, launch

from fabriscope.cli import _streams, main
from fabriscope.model.errors import LaunchError
from fabriscope.progress import TerminalProgress

TITLE = "osu_latency ended, saying \x1b]0;owned\x07hello\0 | world \u202e [bold]now[/bold] :x:"
SHOWN = "osu_latency ended, saying \\x1b]0;owned\\x07hello\\x00 | world \\u202e [bold]now[/bold] :x:"


@pytest.mark.parametrize("is_terminal", [True, False])
def test_the_reason_of_a_failed_case_is_shown_as_it_is(
    is_terminal: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "500")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    if is_terminal:
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("TERM", "xterm")
    with TerminalProgress() as progress:
        progress.start("runs/x", 1, 0, S)
        progress.launch_started(launch(1), S)
        progress.launch_ended(launch(1), {"one": TITLE}, S)
        progress.say(TITLE)
        progress.notice(TITLE)
    said = capsys.readouterr().err
    assert f"{ENTRY.label()}: 1 of 1 measurements failed: {SHOWN}" in said
    assert said.count(SHOWN) == 3
    assert not {"\x1b]", "\x07", "\0", "\u202e"}.intersection(said) and "\x1b]" not in said


def test_a_sentence_of_ours_with_their_words_in_it(capsys: pytest.CaptureFixture[str]) -> None:
    _streams.say(TITLE)
    _streams.say(TITLE, is_told=True)
    out, err = capsys.readouterr()
    assert (out, err) == (f"{SHOWN}\n", f"fabriscope: {SHOWN}\n")


def test_a_path_in_an_error_of_the_system(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(**_: object) -> None:
        raise OSError(28, "No space left on device", "runs/\x1b]0;x\x07")

    monkeypatch.setattr("fabriscope.cli.fabriscope.main", fails)
    with pytest.raises(SystemExit):
        main([])
    err = capsys.readouterr().err
    assert "runs/\\x1b]0;x\\x07: No space left on device" in err
    assert "\x1b" not in str(LaunchError(TITLE))
