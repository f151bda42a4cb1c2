# ruff: noqa: F821, PTH115, PTH123, S108, UP031
# (The host's Python may be as old as 3.6; names of the files that are sent before this one are used.)
# mypy: ignore-errors
# Which memory processes have mapped to share it, and which memory with a name (/dev/shm) they had open for writing, as
# the kernel tells when they let it go (fanotify): of a rank that lives for some milliseconds nobody sees what it has
# mapped. Plain Python 3.6, sent to hosts as text.
#
# Root alone is told. What a process maps it lets go when it ends, so that each process is told of once, at its end.
import ctypes
import os
import re
import stat
import struct

SHARED = re.compile(rb"^([0-9a-f]+)-([0-9a-f]+) .w.s [0-9a-f]+ (\S+) (\d+) *([^\n]*)$", re.M)
FAN_CLOEXEC, FAN_NONBLOCK, FAN_MARK_ADD, FAN_MARK_FILESYSTEM, FAN_CLOSE_WRITE = 1, 2, 1, 0x100, 0x8
FAN_EVENT = struct.Struct("=IBBHQii")  # length, version, -, length of this, what, an open file, the process
MEMORY_FOLDER = "/dev/shm/"  # where POSIX has memory with names
EVENTS_AT_ONCE, MOST_READS = 64, 256  # each comes with an open file; the kernel keeps as many as these are together


class Memories:
    """What the kernel tells of one file system: the memory that has names; nothing to others than root."""

    def __init__(self):
        library = ctypes.CDLL(None)
        self.group = -1
        if not hasattr(library, "fanotify_init"):
            return
        group = library.fanotify_init(FAN_CLOEXEC | FAN_NONBLOCK, os.O_RDONLY | os.O_CLOEXEC)
        mark = ctypes.c_uint64(FAN_CLOSE_WRITE)
        how, folder = FAN_MARK_ADD | FAN_MARK_FILESYSTEM, ctypes.c_char_p(MEMORY_FOLDER.encode())
        if group >= 0 and library.fanotify_mark(group, ctypes.c_uint(how), mark, -1, folder) == 0:
            self.group = group
        elif group >= 0:
            os.close(group)

    def hear(self):
        """Return process, name and size of each memory that was let go since the last time."""
        found = []
        for _ in range(MOST_READS if self.group >= 0 else 0):  # a job may let go as fast as we hear
            try:
                events = os.read(self.group, EVENTS_AT_ONCE * FAN_EVENT.size)
            except OSError:  # there are no more
                break
            for _, _, _, _, _, file, pid in FAN_EVENT.iter_unpack(events):
                if file >= 0:  # else some were lost
                    found += [(pid, *memory) for memory in memory_of(file)]
        return found


def memory_of(file):
    """Return the name of an open file as /proc/PID/maps has it, and its size, if it is memory; closes it."""
    try:
        state, name = os.fstat(file), os.readlink("/proc/self/fd/%d" % file).replace(" (deleted)", "")
    except OSError:
        return []
    finally:
        os.close(file)
    if not stat.S_ISREG(state.st_mode) or not name.startswith(MEMORY_FOLDER):
        return []
    device = "%02x:%02x" % (os.major(state.st_dev), os.minor(state.st_dev))
    return [("%s:%d %s" % (device, state.st_ino, name), state.st_size)]


def mapped_memory(pid):
    """Return what a process has mapped to share it, by name as /proc/PID/maps has it, with its size."""
    found = {}
    try:
        with open("/proc/%d/maps" % pid, "rb") as file:
            text = file.read()
    except OSError:
        return found
    for start, end, device, inode, name in SHARED.findall(text):
        name = name.decode("utf-8", "replace").replace(" (deleted)", "")
        is_file = inode != b"0" or name.startswith("/SYSV")  # whose number may be 0
        if name.startswith("/SYSV"):  # numbered anew in every namespace
            device = link("/proc/%d/ns/ipc" % pid)[5:-1].encode() or device
        if is_file and (not name.startswith("/dev/") or name.startswith((MEMORY_FOLDER, "/dev/zero"))):
            identity = "%s:%s %s" % (device.decode(), inode.decode(), name)
            found[identity] = found.get(identity, 0) + int(end, 16) - int(start, 16)
    return found
