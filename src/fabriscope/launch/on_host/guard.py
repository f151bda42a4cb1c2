# ruff: noqa: PTH111, PTH118, PTH120, F821
# (The host's Python may be as old as 3.6; BEGIN and names of orders, sweep and temporary, sent before this, are used.)
# mypy: ignore-errors
# Runs one program on a host for us, and ends it when we say so or when we are gone. Plain Python 3.6, sent as text.
#
# Its order: argv, env, mark, patience_s, is_mpi, has_folder (a temporary one, of which no other host is told); the body
# is the program's standard input. Then single bytes: `.` we are still here, `T` ask it to end, `K` end it. Their end,
# or silence for patience_s, means that we are gone. Standard output and error are the program's own; ours are a line
# with BEGIN before its output, and behind its errors BEGIN and a line of JSON: how it ended.
import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import threading
import time

GONE_GRACE_S = 2.0
KILL_GRACE_S = 10.0


def guard():
    order, program_input = read_order()
    env = dict(os.environ, LC_ALL="C")
    folder = folder_name(order["mark"]) if order["has_folder"] else None
    if folder is not None:  # what libraries leave when they are killed goes with the program
        env["TMPDIR"] = folder
    env.update(order["env"])
    env[MARK_VARIABLE] = order["mark"]
    argv = [os.path.expanduser(word) if word.startswith("~/") else word for word in order["argv"]]
    asked = signals()  # before there is anything to remove
    if folder is not None:
        make_folder(folder)
    with contextlib.suppress(OSError):  # nobody reads: then our input has ended too
        os.write(1, BEGIN + b"\n")
    child, status = start(argv, program_input, env, folder), None
    if program_input:
        threading.Thread(target=feed, args=(child.stdin, program_input), daemon=True).start()
    if not is_heard_to_end(child, order, asked):
        leave(child)
    signal_group(child, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):  # the kernel does not let it go
        status = child.wait(KILL_GRACE_S)
    end_marked(order["mark"])
    remove(folder)
    end_with(1 if status is None else status if status >= 0 else 128 - status, {"exit_status": status})


def folder_name(mark):
    try:
        return os.path.join(tempfile.gettempdir(), folder_prefix(mark) + os.urandom(4).hex())
    except OSError as error:  # there is no folder that can be written to
        no_folder(error)


def make_folder(folder):
    try:
        make_held(folder)  # until we end
    except OSError as error:
        no_folder(error)
    clear_abandoned(os.path.dirname(folder))


def no_folder(error):
    with contextlib.suppress(OSError):
        os.write(1, BEGIN + b"\n")
    end_with(127, {"cannot_start": "a temporary folder cannot be made: " + reason_of(error)})


def start(argv, program_input, env, folder):
    stdin = subprocess.PIPE if program_input else subprocess.DEVNULL
    try:
        return subprocess.Popen(argv, stdin=stdin, env=env, cwd="/", start_new_session=True)
    except OSError as error:
        remove(folder)
        end_with(127, {"cannot_start": argv[0] + ": " + reason_of(error)})


def remove(folder):
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)


def is_heard_to_end(child, order, asked):
    """Return whether the program has ended, by itself or by our words; not so if nobody waits for us any more."""
    ended, told = os.pipe()
    threading.Thread(target=tell_end, args=(child.pid, told), daemon=True).start()
    while True:
        ready, _, _ = select.select([0, ended, asked], [], [], order["patience_s"])
        if ended in ready:
            return True
        words = os.read(0, 4096) if 0 in ready else b""
        if not words:  # a signal, the end of our input, or silence
            return False
        if b"K" in words:
            signal_group(child, signal.SIGKILL)
        elif b"T" in words and order["is_mpi"]:  # mpirun ends its ranks, those on other hosts too
            child.send_signal(signal.SIGTERM)
        elif b"T" in words:
            signal_group(child, signal.SIGTERM)


def tell_end(pid, told):
    with contextlib.suppress(OSError):  # it was reaped before we looked
        # Seen, not reaped: a dead leader that nobody reaped keeps its group's number from being given away.
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)  # ends: with the program; in a thread that keeps nobody
        os.write(told, b"x")


def leave(child):
    """Ask the program to end, and give it a moment."""
    signal_group(child, signal.SIGTERM)
    until_s = time.monotonic() + GONE_GRACE_S
    while time.monotonic() < until_s:
        if os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG):
            return
        time.sleep(0.02)


def signal_group(child, number):
    with contextlib.suppress(OSError):  # it has ended
        os.killpg(child.pid, number)


def feed(pipe, data):
    with contextlib.suppress(OSError):  # it does not want it
        pipe.write(data)
        pipe.close()


def end_with(status, words):
    with contextlib.suppress(OSError):  # nobody hears us
        os.write(2, BEGIN + json.dumps(words).encode() + b"\n")
    os._exit(status & 255)
