# ruff: noqa: PTH115, PTH119, UP031
# (The host's Python may be as old as 3.6.)
# mypy: ignore-errors
# What /proc says of a process, and files of few bytes. Plain Python 3.6, sent to hosts as text.
import os


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
