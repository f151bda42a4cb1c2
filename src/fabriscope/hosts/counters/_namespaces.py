# ruff: noqa: F821, PTH110, PTH115, PTH116, PTH118, PTH208, UP031
# (The host's Python may be as old as 3.6; names of the files that are sent before this one are used.)
# mypy: ignore-errors
# The network namespaces that a job makes for itself, as containers have them. Plain Python 3.6, sent to hosts as text.
#
# A socket stays in the namespace that it was made in: we enter one for the moment in which we make ours. While we are
# in none of them and hold none open, the job may do with them what it likes.
import contextlib
import os
import socket

CLONE_NEWNET = 0x40000000
HOME = "/proc/self/ns/net"


class Namespace:
    """A network namespace of the job's."""

    def __init__(self, name, pid):
        self.number = name.partition("[")[2].rstrip("]")
        self.pids = {pid}
        self.listener = None
        self.fd = os.open("/proc/%d/ns/net" % pid, os.O_RDONLY)

    def close(self):
        """Let it go: while somebody holds one open, its interfaces stay."""
        os.close(self.fd)
        if self.listener is not None:
            self.listener.close()

    def holder(self):
        """Return a process in it that is still there; None for none."""
        return next((pid for pid in self.pids if os.path.exists("/proc/%d" % pid)), None)


class Stray:
    """A network namespace that was there before, and in which processes of the job are: what it counted meanwhile."""

    def __init__(self, pid, program):
        self.pids, self.program = {pid}, program
        self.file = os.fdopen(os.open("/proc/%d/net/dev" % pid, os.O_RDONLY), "rb", 0)
        self.first = self.last = self.counted()

    def counted(self):
        """Return how much its interfaces have received and sent, but for loopback."""
        self.file.seek(0)
        every = [line.partition(":") for line in self.file.read().decode("ascii", "replace").splitlines()[2:]]
        rows = [words.split() for name, _, words in every if name.strip() != "lo"]
        return sum(int(row[0]) for row in rows), sum(int(row[8]) for row in rows)

    def look(self):
        """Count once more, and let it go when none of the job's is there any more."""
        if self.file is not None:
            self.last = self.counted()
            if not any(os.path.exists("/proc/%d" % pid) for pid in self.pids):
                self.file.close()
                self.file = None

    def row(self):
        return [self.program, max(self.last[way] - self.first[way] for way in (0, 1))]


class Namespaces:
    """Those that the job made, by their names (`net:[4026532201]`); those that were there before are other hosts'."""

    def __init__(self, pids):
        self.own = os.readlink(HOME)
        self.home = os.open(HOME, os.O_RDONLY)
        self.foreign = {link("/proc/%d/ns/net" % pid) for pid in pids} | named_before()
        self.entered, self.strays = {}, {}

    def note_stray(self, pid, program):
        """Take note of a process of the job in a namespace that is none of the job's; it may be gone by now."""
        with contextlib.suppress(OSError):
            number = os.readlink("/proc/%d/ns/net" % pid).partition("[")[2].rstrip("]")
            if number not in self.strays:
                self.strays[number] = Stray(pid, program)
            self.strays[number].pids.add(pid)

    def stray_rows(self):
        """Return number to who was there, and how much its interfaces have counted since."""
        for stray in self.strays.values():
            stray.look()
        return {number: stray.row() for number, stray in self.strays.items()}

    def admit(self, name, pid):
        """Take note of a process of the job in a namespace; return whether that is one of the job's."""
        if name not in self.entered:
            if name in self.foreign:
                return False
            try:
                space = Namespace(name, pid)
            except OSError:
                return False
            if not self.can_enter(space):
                space.close()
                self.foreign.add(name)
                return False
            self.entered[name] = space
        self.entered[name].pids.add(pid)
        return True

    def can_enter(self, space):
        try:
            with self.inside(space):
                return True
        except (ImportError, AttributeError, OSError):
            return False

    @contextlib.contextmanager
    def inside(self, space):
        """Be in a namespace; None is ours."""
        if space is None:
            yield
            return
        set_namespace(space.fd)
        try:
            yield
        finally:
            set_namespace(self.home)

    def left(self):
        """Return those in which no process of the job is any more, and forget them; the caller closes them."""
        gone = [name for name, space in self.entered.items() if space.holder() is None]
        return [self.entered.pop(name) for name in gone]

    def addresses(self):
        """Return number to the addresses of every namespace, and host's interface to the namespaces behind it."""
        found, doors = {}, {}
        ours = ends_of_pairs() if self.entered else {}
        for space in list(self.entered.values()):
            try:
                with self.inside(space):
                    found[space.number] = sorted(every_address())
                    theirs = ends_of_pairs()
            except OSError:
                continue
            for name, (index, other, master) in ours.items():
                if any((other, index) == (number, beside) for number, beside, _ in theirs.values()):
                    doors.setdefault(master or name, []).append(space.number)
        return found, doors


def named_before():
    """Return the namespaces that `ip netns` has names for."""
    found = set()
    for folder in ("/run/netns", "/var/run/netns"):
        with contextlib.suppress(OSError):
            found.update("net:[%d]" % os.stat(os.path.join(folder, one)).st_ino for one in os.listdir(folder))
    return found


def set_namespace(fd):
    import ctypes  # which few jobs need, and some Pythons lack

    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(fd, CLONE_NEWNET) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def every_address():
    """Return the addresses of the namespace that we are in."""
    found = set()
    for _, content in dump(NETLINK_ROUTE, RTM_GETADDR, struct.pack("=B3xI", socket.AF_UNSPEC, 0)):
        told = dict(attributes(content, 8))
        raw = told.get(IFA_LOCAL) or told.get(IFA_ADDRESS)
        if raw and content[0] in (socket.AF_INET, socket.AF_INET6):
            found.add(address_of(raw, content[0]))
    return found


def ends_of_pairs():
    """Return the interfaces whose other end is in another namespace (veth): own number, that one's, and the master."""
    names = dict(socket.if_nameindex())
    found = {}
    for _, content in dump(NETLINK_ROUTE, RTM_GETLINK, struct.pack("=B15x", socket.AF_UNSPEC)):
        index = struct.unpack_from("=i", content, 4)[0]
        told = dict(attributes(content, 16))
        kind = dict(attributes(told.get(IFLA_LINKINFO, b""), 0)).get(IFLA_INFO_KIND, b"").rstrip(b"\0")
        if kind == b"veth" and IFLA_LINK in told and IFLA_LINK_NETNSID in told and index in names:
            master = struct.unpack("=I", told[IFLA_MASTER])[0] if IFLA_MASTER in told else 0
            other = struct.unpack("=I", told[IFLA_LINK])[0]
            found[names[index]] = index, other, names.get(master, "")
    return found
