# ruff: noqa: PTH115, PTH119, UP031
# (The host's Python may be as old as 3.6.)
# mypy: ignore-errors
# What /proc says of a process, and files of few bytes. Plain Python 3.6, sent to hosts as text.
import os
import re


def is_root():
    """Return whether we are root of the machine, and not just of a namespace of users."""
    return os.geteuid() == 0 and read("/proc/self/uid_map").split() == ["0", "0", "4294967295"]


def is_ending(pid):
    """Return whether a process has given its memory back: then its files are root's to read, whoever it belonged to."""
    return read("/proc/%d/statm" % pid).split()[:1] in ([], ["0"])


def parent_of(pid):
    """Return a process's parent, which everybody may read; 0 where it is gone."""
    words = read("/proc/%d/stat" % pid).rpartition(")")[2].split()
    return int(words[1]) if len(words) > 1 else 0


def state_of(pid):
    """Return the letter of a process's state (R, S, D, Z ...); empty where it is gone."""
    return "".join(read("/proc/%d/stat" % pid).rpartition(")")[2].split()[:1])


def ancestors_of(pid):
    """Return what a process descends from, process 1 in any case: who entered its namespace has no parent there."""
    found = {1}
    while pid > 1 and len(found) < 1000:
        pid = parent_of(pid)
        found.add(pid)
    return found


def real_user_of(pid):
    """Return who started a process, which everybody may read; None where it is gone."""
    words = next((line.split() for line in read("/proc/%d/status" % pid).splitlines() if line.startswith("Uid:")), [])
    return int(words[1]) if len(words) > 1 else None


def session_of(pid):
    """Return the control group of a process, and of all that its user runs where the machine has one for each."""
    path = next((line[3:] for line in read("/proc/%s/cgroup" % pid).splitlines() if line.startswith("0::")), "")
    user = re.match(r"/user\.slice/user-\d+\.slice", path)
    return user.group() if user else path


def number_in(variables, names):
    for name in names:
        if variables.get(name, b"").isdigit():
            return int(variables[name])
    return None


def link(path):
    try:
        return os.readlink(path)
    except OSError:
        return ""


def read(path):
    """Return a file's text, empty where it cannot be read; by plain calls, which cost a fifth of open()'s."""
    parts = []
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except (OSError, ValueError):
        return ""
    try:
        while not parts or parts[-1]:
            parts.append(os.read(file, 1 << 16))
    except OSError:
        return ""
    finally:
        os.close(file)
    return b"".join(parts).decode("utf-8", "replace")


def program_of(pid):
    """Return the name of a process's program; empty where it is gone."""
    return os.path.basename(link("/proc/%d/exe" % pid) or read("/proc/%d/comm" % pid).strip()).split(" (")[0]
