# ruff: noqa: F821, PTH110, PTH115, PTH123, PTH207, UP031
# (The host's Python may be as old as 3.6, and pathlib costs 10 ms to import.)
# mypy: ignore-errors
# Runs on the host, fed to `python3 -I -S -`: plain Python 3.6, standard library only, nothing of ours imported.
# Reads every file that is asked for and runs every program, all at once; what fails is told with its reason.
import contextlib
import fcntl
import glob
import json
import os
import socket
import struct
import subprocess
import sys

MAX_FILE_BYTES = 262144
MAX_INTERFACES = 24
PROGRAM_TIMEOUT_S = 5
NET = "/sys/class/net/"
SIOCGIFMTU = 0x8921


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


def correct_interfaces(files, links, problems):
    """Leave out what is told of interfaces of another network namespace: /sys keeps that of whoever mounted it."""
    known = {path.split("/")[4] for path in files if path.startswith(NET)}
    try:
        mtus = interface_mtus() if known else {}
    except OSError:  # no sockets here: /sys is all there is
        return
    for name in known.union(mtus) if known else ():
        path = NET + name + "/mtu"
        if name in mtus and is_of_ours(name) and files.get(path, "").strip() == str(mtus[name]):
            continue
        for other in [one for one in list(files) + list(links) if one.startswith(NET + name + "/")]:
            files.pop(other, None)
            links.pop(other, None)
            problems[other] = "/sys is that of another network namespace"
        if name in mtus:
            files[path] = str(mtus[name])
            problems.pop(path, None)


def interface_mtus():
    """The MTU of every interface, as the kernel tells this process."""
    mtus = {}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        for _, name in socket.if_nameindex():
            with contextlib.suppress(OSError):  # it went meanwhile
                answer = fcntl.ioctl(asking, SIOCGIFMTU, struct.pack("16si12x", name.encode(), 0))
                mtus[name] = struct.unpack("16si12x", answer)[1]
    return mtus


def is_of_ours(name):
    try:
        with open(NET + name + "/ifindex") as file:
            return int(file.read()) == socket.if_nametoindex(name)
    except (OSError, ValueError):
        return False


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
    """A command with {interface} is run for every interface, with {hardware} for those with a device behind them."""
    names = interfaces()
    known = {"{interface}": names, "{hardware}": [name for name in names if os.path.exists(NET + name + "/device")]}
    for argv in commands:
        placeholder = next((word for word in known if word in argv), None)
        if placeholder is None:
            yield argv
            continue
        for name in known[placeholder]:
            yield [name if word == placeholder else word for word in argv]


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
    files = read_files(request["globs"], problems)
    links = read_links(request["links"], problems)
    correct_interfaces(files, links, problems)
    return {
        "files": files,
        "links": links,
        "outputs": run_all(request["commands"], problems),
        "problems": problems,
    }


def main(request_text):
    # A login shell may greet before us: the answer begins after BEGIN, which whoever sends this text defines.
    sys.stdout.write(BEGIN.decode() + json.dumps(collect(json.loads(request_text))))
