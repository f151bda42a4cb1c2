"""A program with our own streams, and the signals that it is told of."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys

import pytest

from fabriscope.launch import in_front
from fabriscope.model.errors import LaunchError, ToolMissing

TIMEOUT_S = 60.0
# argv: 1 to keep the words, then the program's words. Ends with a line of what is known of its end.
OURS = """
import sys
from fabriscope.launch import in_front
ending = in_front.run(sys.argv[2:], {"OURS": "yes"}, keep_words=sys.argv[1] == "1")
print("ended", ending.exit_status, ending.was_signalled, repr(ending.said), file=sys.stderr)
"""


def ours(keeps: bool, *words: str) -> list[str]:
    return [sys.executable, "-c", OURS, str(int(keeps)), *words]


@pytest.mark.parametrize("keeps", [False, True])
def test_streams_pass_untouched(keeps: bool) -> None:
    argv = ours(keeps, "sh", "-c", 'cat; printf "%s" "$OURS"; printf "err\\377" >&2; exit 7')
    done = subprocess.run(argv, input=b"in\xff\n", capture_output=True, timeout=TIMEOUT_S, check=False)
    assert done.stdout == b"in\xff\nyes"
    before, _, after = done.stderr.partition(b"ended ")
    assert before == b"err\xff"
    kept = repr("in\ufffd\nyes" + "err\ufffd") if keeps else "''"
    assert after.decode() == f"7 False {kept}\n"


def test_a_signal_goes_to_the_program_and_we_stay() -> None:
    script = 'trap "echo told; exit 5" TERM; echo up; for i in $(seq 1200); do sleep 0.05; done'
    with subprocess.Popen(
        ours(False, "sh", "-c", script), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=TIMEOUT_S)
    assert (out, err) == ("told\n", "ended 5 True ''\n")


def test_ctrl_c_reaches_the_program_once() -> None:
    """On a terminal the kernel tells it; from us it must not come a second time."""
    script = (
        "import signal, time\n"
        "count = []\n"
        "signal.signal(signal.SIGINT, lambda *_: count.append(1))\n"
        'print("up", flush=True)\n'
        "while not count: time.sleep(0.02)\n"
        "time.sleep(0.3)\n"
        'print("came", len(count), flush=True)\n'
    )
    pid, terminal = pty.fork()
    if pid == 0:
        words = ours(False, sys.executable, "-c", script)
        os.execv(words[0], words)  # noqa: S606 - a list, no shell
    said = b""
    is_asked = False
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:  # all ends are closed
            break
        if not part:
            break
        said += part
        if b"up" in said and not is_asked:
            os.write(terminal, b"\x03")
            is_asked = True
    os.waitpid(pid, 0)
    os.close(terminal)
    assert b"came 1\r\n" in said
    assert b"ended 0 True" in said


def test_a_signal_before_the_program_is_there_is_passed_on() -> None:
    """It comes between our taking signals and the start: the program must not be left behind."""
    script = """
import os, signal, subprocess, sys
from fabriscope.launch import in_front
start = subprocess.Popen
def signalled_first(*words, **options):
    os.kill(os.getpid(), signal.SIGTERM)
    return start(*words, **options)
subprocess.Popen = signalled_first
print(in_front.run(["sleep", "1000"], {}))
"""
    words = [sys.executable, "-c", script]
    done = subprocess.run(words, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    assert done.returncode == 0, done.stderr
    assert f"exit_status={-signal.SIGTERM}" in done.stdout
    assert "was_signalled=True" in done.stdout


def test_a_program_behind_other_words_finds_signals_and_variables_as_without() -> None:
    script = 'grep -E "^Sig(Blk|Ign)" /proc/self/status; echo "$OURS ${LC_CTYPE-none}"'
    said = []
    for access in ((), ("env", "-u", "NOTHING")):
        code = (
            "from fabriscope.launch import in_front\n"
            f'in_front.run(["sh", "-c", {script!r}], {{"OURS": "yes"}}, access={access!r})\n'
        )
        env = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG"))}
        words = [sys.executable, "-c", code]
        done = subprocess.run(words, capture_output=True, text=True, timeout=TIMEOUT_S, check=False, env=env)
        assert done.returncode == 0, done.stderr
        said.append(done.stdout)
    assert said[0].count("Sig") == 2
    assert said[1] == said[0]


def test_what_leads_to_the_program_is_deaf_to_the_terminal() -> None:
    """The words before it wait until it has ended; the program itself is ended by the signal."""
    way = (
        "import os, signal, subprocess, sys\n"
        "os.kill(os.getpid(), signal.SIGINT)\n"
        'print("deaf", subprocess.run(sys.argv[1:]).returncode)\n'
    )
    code = (
        "from fabriscope.launch import in_front\n"
        f'in_front.run(["sh", "-c", "kill -INT $$; echo heard"], {{}}, access={(sys.executable, "-c", way)!r})\n'
    )
    words = [sys.executable, "-c", code]
    done = subprocess.run(words, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    assert done.stdout == f"deaf {-signal.SIGINT}\n"


def test_a_program_that_cannot_start() -> None:
    with pytest.raises(ToolMissing, match="there is no program /no/such"):
        in_front.run(["/no/such"], {})
    with pytest.raises(LaunchError, match="/etc/passwd cannot be started: Permission denied"):
        in_front.run(["/etc/passwd"], {})
