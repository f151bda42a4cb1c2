# ruff: noqa: F821, PTH115, PTH116, PTH123, PTH208, SIM905, UP031
# (The host's Python may be as old as 3.6; names of the files that are sent before this one are used.)
# mypy: ignore-errors
# The processes of a job on this host, and by what they could move bytes. Plain Python 3.6, sent to hosts as text.
#
# What ran before the first look is none of the job's. A new process is looked at again when it is twice as old: it may
# not have become the program, or entered the network namespace, that it is for. What its environment says is told as
# it is; who is a rank is decided where everything is known.
import contextlib
import os
import re
import stat

RANK_VARIABLES = (b"PMIX_RANK", b"OMPI_COMM_WORLD_RANK", b"PMI_RANK", b"MV2_COMM_WORLD_RANK", b"PALS_RANKID")
STEP_VARIABLES = (b"SLURM_PROCID", b"SLURM_STEP_ID")
MARK_VARIABLE = b"FABRISCOPE_LAUNCH_MARK"
SELF_VARIABLE = b"FABRISCOPE_COUNTERS"
GROUP_VARIABLE = "FABRISCOPE_JOB_GROUP"
# They start ranks and are none, though some carry a rank's variables.
LAUNCHERS = frozenset(
    "mpirun mpiexec mpiexec.hydra mpirun.openmpi mpiexec.openmpi mpirun.mpich orterun orted prte prted prterun prun "
    "hydra_pmi_proxy hydra_bstrap_proxy pmi_proxy srun slurmstepd mpiexec.slurm jsrun flux flux-shell aprun".split()
)
ENTERING = frozenset(("nsenter", "sh", "dash", "bash", "busybox", ""))  # on their way into a host of a lab
DEVICES = re.compile(r"/dev/(net/tun|infiniband/|hfi1|cxi|efa|knem|xpmem|cma|gdrdrv|nvidia-fs|nvidia\d|kfd|dri/render)")
MOST_CHANNELS, FEW_FILES = 64, 64  # of a process
MOST_ENDED = 1000  # processes that have ended and whose last words may still come
SETTLED_S = 1.0
FIRST_LOOK_S = 0.005


class Process:
    """A process that is not older than the job."""

    def __init__(self, pid, now_s):
        self.pid, self.seen_s, self.next_s = pid, now_s, now_s
        self.parent, self.program, self.pages = 0, "", []
        self.rank = self.step_rank = None
        self.is_marked = self.is_of_job = self.is_hidden = self.was_in_group = self.is_orphan = False
        self.read_bytes = self.written_bytes = 0
        self.shared, self.devices, self.listens, self.datagrams, self.channels = {}, set(), set(), set(), set()
        self.open_names, self.open_channels = set(), set()

    def is_young(self, now_s):
        return now_s - self.seen_s < SETTLED_S

    def become(self, parent, program):
        """Note its parent and program; what a launcher's copy held before it became a rank is the launcher's."""
        if self.program in LAUNCHERS and program not in LAUNCHERS:
            self.channels, self.open_channels = set(), set()
        self.parent, self.program = parent, program

    def row(self):
        return {
            "pid": self.pid, "parent": self.parent, "program": self.program, "rank": self.rank,
            "step_rank": self.step_rank, "is_marked": self.is_marked, "shared": self.shared,
            "devices": sorted(self.devices), "listens": sorted(self.listens), "datagrams": sorted(self.datagrams),
            "channels": sorted(self.channels), "moved": [self.read_bytes, self.written_bytes],
        }  # fmt: skip


class Processes:
    """The processes that are new since the first look, in our network namespace or in one that the job made."""

    def __init__(self, mark, problems):
        self.problems = problems
        self.mark = mark or prefix_of(variables_of("self").get(MARK_VARIABLE, b"").decode("ascii", "replace"))
        words = os.environ.get(GROUP_VARIABLE, "").split()
        known = words if len(words) == 5 else ["", "", "0", "0", "0"]
        self.group = int(known[0]) if known[0] else None  # the kernel's number of the job's control group
        self.group_name, maps = known[1], [int(word) for word in known[2:]]
        self.births, self.moved = Births(*maps[:2]), Moved(maps[2])
        self.old, self.ancestors = self.present(), ancestors_of(os.getpid())
        self.spaces = Namespaces(self.old)
        self.memories = Memories()
        self.new = {}
        self.of_job, self.ended = {}, {}  # those that live, and those that lived
        self.owners, self.datagrams, self.peers = {}, {}, {}
        self.has_strayed = False  # a process of the job is outside of its control group, or has one within that
        # Processes that are none of the job's and hold the other end of a Unix socket of its, or of a connection that
        # stays on this host, their children, and what they have open.
        self.confidants, self.confided, self.sought = set(), set(), set()
        self.born = set()  # all that ever were in `new`
        self.holders = set()  # processes that are none of the job's and hold connections
        self.last_pid = None
        self.changed = set()

    def present(self):
        return {int(name) for name in os.listdir("/proc") if name.isdigit()}

    def look(self, now_s, also_young=False):
        """Look for new processes, and again at those that are twice as old, or at all that are young.

        Return how many of the job's were found or have become another program.
        """
        last_pid = read("/proc/loadavg").split()[-1:]
        if last_pid != self.last_pid or not last_pid:
            self.last_pid = last_pid
            present = self.present()
            self.old &= present  # numbers are given again
            for pid in list(self.new):
                if pid not in present:
                    self.new.pop(pid)
                    if pid in self.of_job:
                        self.ended[pid] = self.of_job.pop(pid)
                        if len(self.ended) > MOST_ENDED:
                            self.ended.pop(next(iter(self.ended)))
            for pid in present - self.old:
                self.new.setdefault(pid, Process(pid, now_s))
                self.born.add(pid)
        due = [one for one in self.new.values() if one.next_s <= now_s or (also_young and one.is_young(now_s))]
        # Parents first, so that what descends from the job's is the job's.
        return sum(self.inspect(one, now_s) for one in sorted(due, key=lambda one: one.pid))

    def inspect(self, one, now_s):
        """Read what a process is; return whether it is news of the job.

        One that is no longer young and not the job's is let go, unless nothing of it can be read: it may become ours.
        """
        one.next_s = now_s + max(now_s - one.seen_s, FIRST_LOOK_S)
        is_news = self.identify(one)
        if not one.is_of_job and not one.is_young(now_s) and link("/proc/%d/exe" % one.pid):
            self.old.add(one.pid)
            self.new.pop(one.pid)
        return is_news

    def identify(self, one):
        before = (one.program, one.rank, one.is_of_job)
        if one.pid == os.getpid():
            return False
        is_in_group = self.is_in_group(one.pid)
        one.is_marked |= is_in_group
        try:
            if not self.is_here(one):
                return False
        except PermissionError:
            self.note_hidden(one)
            return False
        except OSError:
            return False
        variables = variables_of(one.pid)
        if SELF_VARIABLE in variables:
            return False
        parent_pid, program = parent_of(one.pid), program_of(one.pid)
        if not program or (one.is_of_job and not link("/proc/%d/exe" % one.pid)):
            return False  # it has ended or is ending, perhaps while it was looked at: what it was is known
        one.become(parent_pid, program)
        # Whoever started it is gone: a container that got a control group of its own.
        one.is_orphan = self.group is not None and one.parent == 1
        rank = number_in(variables, RANK_VARIABLES)
        one.rank = one.rank if rank is None else rank
        one.step_rank = number_in(variables, STEP_VARIABLES[:1]) if STEP_VARIABLES[1] in variables else None
        mark = variables.get(MARK_VARIABLE, b"").decode("ascii", "replace")
        # What was the job's once stays so, and its children are: a program may write over its environment.
        parent = self.of_job.get(one.parent)
        one.is_marked |= (bool(self.mark) and mark.startswith(self.mark)) or (parent is not None and parent.is_marked)
        one.is_of_job |= (
            one.is_marked or one.rank is not None or one.step_rank is not None
            or one.program in LAUNCHERS or one.parent in self.of_job
        )  # fmt: skip
        is_bound = one.is_marked or one.was_in_group or (parent is not None and parent.was_in_group)
        self.has_strayed |= is_bound and not is_in_group and self.is_outside(one.pid)
        one.was_in_group |= is_in_group
        if not one.is_of_job or (one.program, one.rank, one.is_of_job) == before:
            return False
        self.of_job[one.pid] = one
        self.changed.add(one)
        return True

    def is_here(self, one):
        """Return whether a process is in our network namespace, or in one that the job made; raises OSError."""
        name = os.readlink("/proc/%d/ns/net" % one.pid)
        if name == self.spaces.own:
            return True
        if (one.is_of_job or parent_of(one.pid) in self.of_job) and self.spaces.admit(name, one.pid):
            return True
        if one.is_marked and name in self.spaces.foreign and program_of(one.pid) not in ENTERING:
            self.spaces.note_stray(one.pid, program_of(one.pid))
        return False

    def awaits_ranks(self):
        """Return whether a launcher was seen, and none of its ranks yet."""
        every = self.of_job.values()
        return any(one.program in LAUNCHERS for one in every) and all(one.rank is None for one in every)

    def ownership(self):
        """Return by what it is known here whose a process and a connection are: the kernel's word, or marks."""
        if self.group is None or self.has_strayed:
            return "marks"
        return "group" if self.births.has(0) is None else "birth"

    def is_in_group(self, pid):
        """Return whether the kernel says that a process is the job's: it, or what it descends from, was born there."""
        if self.group is None:
            return False
        path = next((line[3:] for line in read("/proc/%d/cgroup" % pid).splitlines() if line.startswith("0::")), "")
        return path.rpartition("/")[2] == self.group_name

    def is_outside(self, pid):
        """Return whether a process runs outside of the group, and is not about to join it (launch/job_group.py)."""
        words = read("/proc/%d/cmdline" % pid).split("\0")
        is_joining = "fabriscope-join" in words
        is_running = words != [""] and bool(link("/proc/%d/exe" % pid))
        return self.group is not None and is_running and not is_joining and not self.is_in_group(pid)

    def note_hidden(self, one):
        """Say of what may be the job's that nothing of it may be read, when that is so for the second time."""
        if not (one.is_marked or self.may_descend(one.pid)):
            return
        if one.is_hidden:
            name = read("/proc/%d/comm" % one.pid).strip()
            self.problems["open files"] = "those of process %d (%s) may not be read" % (one.pid, name)
        one.is_hidden = True

    def may_descend(self, pid):
        """Return whether a process that began since the first look may be a child of the job's, perhaps an orphan.

        An orphan's parent is process 1, or another one that all of us descend from; so is that of a service that the
        machine starts, which has a control group of its own. Without a parent (0) it came from another namespace of
        processes, as what `docker exec` starts.
        """
        parent = parent_of(pid)
        if parent in self.of_job:
            return True
        if parent == 0 or parent not in self.ancestors:
            return False
        return real_user_of(pid) == os.getuid() or session_of(pid) == session_of("self")

    def look_inside(self, peers):
        """Read the open files of the job's processes and the memory that ranks share; `peers` is of Unix sockets."""
        found, self.peers = {}, peers
        for one in list(self.of_job.values()):
            with contextlib.suppress(OSError):  # it may have entered another namespace
                self.is_here(one)
        self.datagrams = datagram_sockets("/proc/net")
        for pid in (space.holder() for space in self.spaces.entered.values()):
            self.datagrams.update(datagram_sockets("/proc/%d/net" % pid) if pid else {})
        for one in list(self.of_job.values()):
            self.look_at_files(one, found)
            self.look_at_new_memory(one)
            self.look_at_files_moved(one)
        self.owners.update(found)
        self.look_at_confidants({peers[inode] for inode in found if peers.get(inode)})

    def look_at_confidants(self, inodes):
        """Find out who holds sockets that the job's are connected to, and which connections they have."""
        news = inodes - self.sought - set(self.owners)
        if news:
            self.sought |= news
            self.confidants |= set(self.strangers(news).values())
        for pid in sorted(set(self.new) - set(self.of_job)):
            if self.new[pid].is_orphan or (self.confidants and parent_of(pid) in self.confidants):
                self.confidants.add(pid)
        for pid in self.confidants:
            folder = "/proc/%d/fd/" % pid
            try:
                names = os.listdir(folder)
            except OSError:
                continue
            targets = [link(folder + name) for name in names]
            self.confided.update(int(target[8:-1]) for target in targets if target.startswith("socket:["))

    def may_be_ours(self, pid):
        """Return whether a process without a mark may be the job's: it talks to it, or all that is known are marks.

        Then a program of ours that began since the first look may have lost its mark. Root has others' programs too.
        """
        if pid in self.confidants:
            return True
        if self.group is not None or pid not in self.born or is_root():
            return False
        try:
            return os.stat("/proc/%d" % pid).st_uid == os.geteuid()
        except OSError:
            return False

    def strangers(self, inodes):
        """Return socket to process of those that processes hold which are none of the job's, as far as we may look.

        Those that held one before are asked first; nobody is asked longer than something is missing.
        """
        missing = {"socket:[%d]" % inode: inode for inode in inodes}
        found = {}
        asked = sorted(self.present() - set(self.of_job), key=lambda pid: (pid not in self.holders, -pid))
        for pid in asked:
            if not missing:
                break
            folder = "/proc/%d/fd/" % pid
            try:
                names = os.listdir(folder)
            except OSError:
                continue
            held = [missing.pop(target) for target in {link(folder + name) for name in names} & set(missing)]
            found.update((inode, pid) for inode in held)
            self.holders.update([pid] if held else [])
        return found

    def look_at_files(self, one, owners):
        """Read what is open; a socket that several have belongs to the one that was there first: others inherit it."""
        folder = "/proc/%d/fd" % one.pid
        try:
            names = os.listdir(folder)
        except PermissionError:
            if not is_ending(one.pid):
                self.problems["open files"] = "those of process %d (%s) may not be read" % (one.pid, one.program)
            return
        except OSError:
            return
        for name in names:
            target = link(folder + "/" + name)
            if target.startswith("socket:["):
                inode = int(target[8:-1])
                owners.setdefault(inode, one.pid)
                kind = self.datagrams.get(inode)
                if kind is not None and kind not in one.datagrams:
                    one.datagrams.add(kind)
                    self.changed.add(one)
                if self.peers.get(inode):
                    self.note_channel(one, "unix %d to %d" % (inode, self.peers[inode]))
            elif target.startswith("pipe:["):
                for end in ends_of(folder + "/" + name):
                    self.note_channel(one, "pipe %s %s" % (target[6:-1], end))
            elif DEVICES.match(target):
                if target not in one.devices:
                    one.devices.add(target)
                    self.changed.add(one)
            elif target.startswith("/"):
                self.look_at_file(one, folder + "/" + name)

    def look_at_file(self, one, path):
        """Note a file or a pipe with a name: by those, too, processes tell each other something."""
        try:
            state = os.stat(path)
        except OSError:
            return
        if stat.S_ISFIFO(state.st_mode):
            what = "pipe %d" % state.st_ino
        elif stat.S_ISREG(state.st_mode):  # as /proc/PID/maps writes it
            what = "file %02x:%02x:%d" % (os.major(state.st_dev), os.minor(state.st_dev), state.st_ino)
        else:
            return
        for end in ends_of(path):
            self.note_channel(one, "%s %s" % (what, end))

    def note_channel(self, one, channel):
        if channel not in one.channels and len(one.channels) < MOST_CHANNELS:
            one.channels.add(channel)
            self.changed.add(one)

    def note_listeners(self, ports):
        """Note who listens at which port; `ports` is inode to port."""
        for inode, port in ports.items():
            one = self.of_job.get(self.owners.get(inode))
            if one is not None and port not in one.listens:
                one.listens.add(port)
                self.changed.add(one)

    def peek(self):
        """Look at the memory of those ranks that have mapped or let go some since the last time: a cheap question.

        Return whether there were any.
        """
        is_news = False
        for one in self.of_job.values():
            self.look_at_files_moved(one)
            is_news |= one.program not in LAUNCHERS and self.look_at_new_memory(one)
        return is_news

    def have_new_channels(self):
        """Return whether a process of the job has opened a socket or a pipe since the last time; of many files, the new
        ones are looked at alone."""
        is_new = False
        for one in self.of_job.values():
            folder = "/proc/%d/fd/" % one.pid
            try:
                names = set(os.listdir(folder))
            except OSError:
                continue
            asked = names if len(names) <= FEW_FILES else names - one.open_names
            targets = {link(folder + name) for name in asked}
            channels = {target for target in targets if target.startswith(("socket:", "pipe:"))}
            is_new |= not channels <= one.open_channels
            one.open_names, one.open_channels = names, channels if asked is names else one.open_channels | channels
        return is_new

    def look_at_new_memory(self, one):
        """Look at a process's memory if its size has changed; return whether it has."""
        pages = read("/proc/%d/statm" % one.pid).split()[:1]
        if pages == one.pages:
            return False
        one.pages = pages
        self.look_at_memory(one)
        return True

    def look_at_files_moved(self, one):
        """Read how much a process read and wrote by read(2), write(2) and their like, whatever from and to."""
        told = dict(line.split(": ") for line in read("/proc/%d/io" % one.pid).splitlines() if ": " in line)
        moved = int(told.get("rchar", 0)), int(told.get("wchar", 0))
        if moved[0] > one.read_bytes or moved[1] > one.written_bytes:
            one.read_bytes, one.written_bytes = moved
            self.changed.add(one)

    def look_at_memory(self, one):
        for identity, size in mapped_memory(one.pid).items():
            self.note_memory(one, identity, size)

    def note_memory(self, one, identity, size):
        if one.shared.get(identity, 0) < size:
            one.shared[identity] = size
            self.changed.add(one)

    def left(self):
        """Return the programs that are certainly the job's and still run, those that start others aside."""
        alive = [one for one in self.of_job.values() if one.is_marked and state_of(one.pid) not in ("", "Z", "X")]
        return sorted({one.program for one in alive if one.program not in LAUNCHERS})

    def rows(self):
        """Return what has changed since this was asked last."""
        for pid, identity, size in self.memories.hear():
            one = self.of_job.get(pid) or self.ended.get(pid)
            if one is not None:
                self.note_memory(one, identity, size)
        rows = [one.row() for one in sorted(self.changed, key=lambda one: one.pid)]
        self.changed = set()
        return rows


def ends_of(path):
    """Return for what an open file was opened: `read`, `write`, or both."""
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return []
    return [end for bit, end in ((0o400, "read"), (0o200, "write")) if mode & bit]


def prefix_of(mark):
    """Return what the marks of one launch have in common: over ssh every command has an ending of its own."""
    return mark.rpartition(".")[0] or mark


def variables_of(pid):
    """Return the variables of a process's environment that tell something of a job."""
    wanted = RANK_VARIABLES + STEP_VARIABLES + (MARK_VARIABLE, SELF_VARIABLE)
    found = {}
    try:
        with open("/proc/%s/environ" % pid, "rb") as file:
            for part in file.read().split(b"\0"):
                name, _, value = part.partition(b"=")
                if name in wanted:
                    found[name] = value
    except OSError:  # it has ended, or it is another user's
        pass
    return found
