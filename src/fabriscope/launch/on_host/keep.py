# ruff: noqa: F821, PTH101, PTH103, PTH105, PTH111, PTH113, PTH118, PTH120, PTH123, S202
# (The host's Python may be as old as 3.6; RUNNING and END_PATIENCE_S are of relay.py, problem of folders.py.)
# mypy: ignore-errors
# A relay's job: keep a program in the host's cache, or compile it there if ours does not run. Plain Python 3.6, text.
#
# Its request: path (in the cache, may begin with ~/), trial (argv that shows whether a program runs; {program} is its
# path), env, argv (a compiler's words, where the body is an archive of sources: {output} is where it writes) and
# compilers (names, of which the first that is there is {compiler}). The body is the program, or the archive.
import contextlib
import fcntl
import io
import os
import shutil
import subprocess
import tarfile
import tempfile
import time

COMPILE_TIMEOUT_S = 900
TRIAL_TIMEOUT_S = 30
WORDS_KEPT = 400
LOCK_POLL_S = 0.2


def answer(request, body):
    """Return why the program cannot be had; None if it is there and runs."""
    path = os.path.expanduser(request["path"])
    folder = os.path.dirname(path)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    why = problem(folder) or (problem(path) if os.path.lexists(path) else None)
    if why is not None:
        return f"{why}, so nothing is executed from there"
    with open(os.path.join(folder, "lock"), "w") as lock:  # a shared home: one host works, the others find its work
        if not take(lock):
            return f"another process has held {folder}/lock for {COMPILE_TIMEOUT_S} s"
        if os.path.isfile(path) and try_it(request, path) is None:
            return None
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            output = os.path.join(scratch, "program")
            reason = build(request, body, scratch, output) if request["argv"] else write(body, output)
            reason = reason or try_it(request, output)
            if reason is None:
                os.replace(output, path)
            return reason


def take(lock):
    """Return whether we have the lock, or the file system has none: then every host works."""
    until_s = time.monotonic() + COMPILE_TIMEOUT_S
    while time.monotonic() < until_s:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            time.sleep(LOCK_POLL_S)
        except OSError:
            return True
    return False


def write(body, output):
    with open(output, "wb") as file:
        file.write(body)
    os.chmod(output, 0o700)


def build(request, body, scratch, output):
    compiler = next((path for path in map(shutil.which, request["compilers"]) if path and path[0] == "/"), None)
    if compiler is None:
        return f"there is no C++ compiler ({' or '.join(request['compilers'])})"
    with tarfile.open(fileobj=io.BytesIO(body)) as archive:
        archive.extractall(scratch)
    argv = [word.replace("{compiler}", compiler).replace("{output}", output) for word in request["argv"]]
    status, words = run(argv, request["env"], COMPILE_TIMEOUT_S, scratch)
    if status == 0:
        return None
    errors = [line for line in words.splitlines() if "error" in line] or words.splitlines()[-3:]
    return "it cannot be compiled there: " + " | ".join(errors)[:WORDS_KEPT]


def try_it(request, path):
    if not request["trial"]:
        return None
    status, words = run(
        [word.replace("{program}", path) for word in request["trial"]], request["env"], TRIAL_TIMEOUT_S, None
    )
    return None if status == 0 else "it does not run there: " + " ".join(words.split())[:WORDS_KEPT]


def run(argv, env, timeout_s, folder):
    """Return a program's exit status and words; it ends with us."""
    try:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=dict(os.environ, LC_ALL="C", **env),
            cwd=folder,
        )
    except OSError as error:
        return None, reason_of(error)
    RUNNING.append(process)
    try:
        words, _ = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):  # what it started may keep its output open
            process.communicate(timeout=END_PATIENCE_S)
        return None, f"it did not end within {timeout_s} s"
    return process.returncode, words.decode("utf-8", "replace")
