# One TCP connection, and whose it is. Plain Python 3.6 (the host's may be as old), sent to hosts as text.
# mypy: ignore-errors

# In place of the process that holds a connection; of what was BORN_ELSEWHERE and closed nobody saw who had it.
THE_JOBS, SOMEBODY_ELSES, CONFIDANTS, BORN_ELSEWHERE = 0, -1, -2, -3


class Connection:
    """One TCP connection as it was seen last."""

    __slots__ = (
        "cookie", "counts", "ends", "group", "inode", "is_closed", "is_known", "options", "owner", "sought", "space",
        "uid", "unowned_at", "unsent",
    )  # fmt: skip

    def __init__(self, cookie, ends, inode):
        self.cookie, self.ends, self.inode = cookie, ends, inode
        self.counts = None
        self.options = (None, 0)  # whether packets have time stamps, and how much longer their headers may be
        self.group = None  # the control group of the process that made it, where the kernel tells
        self.uid = None
        self.owner = None  # a process id of the job, THE_JOBS, SOMEBODY_ELSES; None: unknown
        self.sought = 0  # how often a holder was looked for among others
        self.unowned_at = None  # the first look at which no process of the job had it
        self.is_closed = False
        self.is_known = False  # whether the other end was looked for: it may be on this host
        self.unsent = 0  # bytes that nobody has acknowledged yet
        self.space = None  # the network namespace that it is in, where that is not ours

    def row(self):
        space = "" if self.space is None else self.space.number
        return [self.cookie, *self.ends, *self.counts, self.owner, int(self.is_closed), space, *self.options]
