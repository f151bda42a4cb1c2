# ruff: noqa: F821, PTH115, PTH123, PTH207, UP031
# (The host's Python may be as old as 3.6, and pathlib costs 10 ms to import.)
# mypy: ignore-errors
# Runs on the host, fed to `python3 -I -S -`: plain Python 3.6, standard library only, nothing of ours imported.
# Reads every file that is asked for and runs every program, all at once; what fails is told with its reason.
import contextlib
import glob
import json
import os
import subprocess
import sys

MAX_FILE_BYTES = 262144
MAX_INTERFACES = 24
PROGRAM_TIMEOUT_S = 5


def read_files(patterns, problems):
    files = {}
    for pattern in patterns:
        for path in sorted(glob.glob(pattern)) or [pattern]:
            try:
                with open(path, "rb") as file:
                    files[path] = file.read(MAX_FILE_BYTES).decode("utf-8", "replace")
            except OSError as error:
                problems[path] = error.strerror or str(error)
    return files


def read_links(patterns, problems):
    links = {}
    for pattern in patterns:
        for path in sorted(glob.glob(pattern)):
            try:
                links[path] = os.readlink(path)
            except OSError as error:
                problems[path] = error.strerror or str(error)
    return links


def interfaces():
    """The interfaces that are up; loopback has no hardware to ask."""
    names = []
    for path in sorted(glob.glob("/sys/class/net/*/operstate")):
        name = path.split("/")[4]
        try:
            with open(path) as file:
                state = file.read().strip()
        except OSError:
            continue
        if name != "lo" and state != "down":
            names.append(name)
    return names[:MAX_INTERFACES]


def expand(commands):
    """A command with {interface} is run for every interface."""
    for argv in commands:
        if "{interface}" in argv:
            for name in interfaces():
                yield [name if word == "{interface}" else word for word in argv]
        else:
            yield argv


def search_path():
    """Return PATH and the folders of the system's programs, without what leads into the current folder."""
    folders = (os.environ.get("PATH", "/usr/bin:/bin") + ":/usr/sbin:/sbin").split(":")
    return ":".join([folder for folder in folders if folder.startswith("/")])


def run_all(commands, problems):
    env = dict(os.environ, LC_ALL="C", PATH=search_path())
    running = []
    for argv in expand(commands):
        key = " ".join(argv)
        try:
            running.append(
                (
                    key,
                    subprocess.Popen(
                        argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env
                    ),
                )
            )
        except OSError as error:
            problems[key] = "%s: %s" % (argv[0], error.strerror)
    outputs = {}
    for key, process in running:
        try:
            stdout, stderr = process.communicate(timeout=PROGRAM_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):  # what it started keeps its output open
                process.communicate(timeout=1)
            problems[key] = "it did not end within %d s" % PROGRAM_TIMEOUT_S
            continue
        outputs[key] = {
            "exit_status": process.returncode,
            "stdout": stdout.decode("utf-8", "replace"),
            "stderr": stderr.decode("utf-8", "replace"),
        }
    return outputs


def collect(request):
    problems = {}
    return {
        "files": read_files(request["globs"], problems),
        "links": read_links(request["links"], problems),
        "outputs": run_all(request["commands"], problems),
        "problems": problems,
    }


def main(request_text):
    # A login shell may greet before us: the answer begins after BEGIN, which whoever sends this text defines.
    sys.stdout.write(BEGIN.decode() + json.dumps(collect(json.loads(request_text))))
