# ruff: noqa: B905, F821, PTH112, PTH118, PTH207, PTH208, SIM905, UP031
# (The host's Python may be as old as 3.6; `read` is of _processes.py, which is sent before this.)
# mypy: ignore-errors
# What interfaces, protocols, RDMA ports and drivers count. Plain Python 3.6, sent to hosts as text.
import array
import contextlib
import fcntl
import glob
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import time

SIOCGIFMTU, SIOCETHTOOL = 0x8921, 0x8946
ETHTOOL_GSTRINGS, ETHTOOL_GSTATS, ETHTOOL_GSSET_INFO, ETH_SS_STATS = 0x1B, 0x1D, 0x37, 1
MAX_DRIVERS = 64
# bnxt_re asks its firmware for statistics every 1000 ms; no other driver has a counter of this name.
LATE_BY, LATE_S = "hw.recoverable_errors", 1.1
PER_QUEUE = re.compile(r"\[\d+\]|[rt]x\d+_|[rt]x[-_](queue_)?\d|[rt]xq\d|ch\d+_|q\d+_|queue_?\d")
NETLINK_RDMA, RDMA_GET, RDMA_QUEUE_PAIRS = 20, 5 << 10 | 1, 5 << 10 | 10
DEVICE_INDEX, DEVICE_NAME, QUEUE_PAIRS, QUEUE_PAIR_NUMBER, QUEUE_PAIR_TYPE, HOLDER = 1, 2, 19, 21, 26, 28
PACKET_NUMBERS = (23, 24)  # of the next packet that is to come, and of the next that is sent
VERBS_NUMBER = "verbs.number"
HOLDERS_SHARE = 0.01
OF_MANAGEMENT = (b"\0", b"\1")
JOBS_QUEUE_PAIRS, OTHERS_QUEUE_PAIRS, OLD_QUEUE_PAIRS = (
    "%s.queue_pairs" % whose for whose in ("jobs", "others", "old")
)
DEVICE_FIELDS = (
    "rx_bytes rx_packets rx_errors rx_dropped rx_fifo_errors rx_frame_errors rx_compressed multicast "
    "tx_bytes tx_packets tx_errors tx_dropped tx_fifo_errors collisions tx_carrier_errors tx_compressed"
).split()


VERSION6_FIELDS = {"Ip6OutRequests": "tx_ipv6_packets", "Ip6InReceives": "rx_ipv6_packets"}


def interfaces():
    """Return the statistics of every interface, all of one moment, by the first name that each had."""
    found, names = {}, first_names()
    for line in read("/proc/net/dev").splitlines()[2:]:
        name, _, numbers = line.rpartition(":")
        name = name.strip()
        counts = dict(zip(DEVICE_FIELDS, map(int, numbers.split())))
        for six in read("/proc/net/dev_snmp6/" + name).splitlines():
            key, value = six.split()
            if key in VERSION6_FIELDS:
                counts[VERSION6_FIELDS[key]] = int(value)
        found[names.get(name, name)] = counts
    return found


def protocols():
    """Return the counters of IP, TCP, UDP and their extensions, under `Group.Name`, and how much memory was pinned.

    The kernel pins what one process reads from another's memory (process_vm_readv), what devices read, and direct I/O.
    """
    found = {}
    for line in read("/proc/vmstat").splitlines():
        if line.startswith("nr_foll_pin_acquired "):
            found["Memory.PinnedBytes"] = int(line.split()[1]) * os.sysconf("SC_PAGE_SIZE")
    for path in ("/proc/net/snmp", "/proc/net/netstat"):
        lines = read(path).splitlines()
        for names, numbers in zip(lines[::2], lines[1::2]):
            group, _, rest = names.partition(":")
            values = numbers.partition(":")[2].split()
            found.update((group + "." + name, int(value)) for name, value in zip(rest.split(), values))
    for line in read("/proc/net/snmp6").splitlines():
        name, value = line.split()
        found[name.replace("6", "6.", 1)] = int(value)
    return found


class Rdma:
    """The ports of RDMA devices, as the kernel lists them below a folder."""

    def __init__(self, sys_folder):
        self.folder = os.path.join(sys_folder, "class/infiniband")
        self.ports = [[*path.split("/")[-3::2], path] for path in sorted(glob.glob(self.folder + "/*/ports/*"))]
        self.held, self.old, self.moved, self.jobs, self.next_s = set(), None, set(), set(), 0.0
        self.numbers = {}  # device to the number in the name of its file, /dev/infiniband/uverbs0
        for path in glob.glob(self.folder + "_verbs/uverbs*/ibdev"):
            self.numbers[read(path).strip()] = int(path.split("/")[-2][len("uverbs") :])

    def interfaces(self):
        """Return `DEVICE/PORT` to the interface that it sends over."""
        found = {}
        for device, port, path in self.ports:
            for index in sorted(glob.glob(path + "/gid_attrs/ndevs/*"), key=lambda one: (len(one), one)):
                name = read(index).strip()
                if name:
                    found[device + "/" + port] = name
                    break
            else:
                named = self.over_address(read(path + "/gids/0"))
                if named:
                    found[device + "/" + port] = named
        return found

    def over_address(self, gid):
        """Return the only interface whose hardware address a GID is made of, as that of iWARP is; empty for none."""
        digits = gid.strip().replace(":", "")
        if len(digits) != 32 or digits[12:].strip("0") or not digits[:12].strip("0"):
            return ""
        paths = glob.glob(self.folder + "/../net/*/address")
        names = [path.split("/")[-2] for path in paths if read(path).strip().replace(":", "") == digits[:12]]
        return names[0] if len(names) == 1 else ""

    def counters(self):
        found = {}
        for device, port, path in self.ports:
            if not os.path.isdir(path):  # it has gone since
                continue
            one = files_of(path + "/counters", "")
            one.update(files_of(path + "/hw_counters", "hw."))
            if len([other for other in self.ports if other[0] == device]) == 1:  # of the device, and it has one port
                for name, value in files_of(os.path.join(self.folder, device, "hw_counters"), "hw.").items():
                    one.setdefault(name, value)
            found[device + "/" + port] = one
        return found

    def note_holders(self, of_job, always):
        """Look who has queue pairs; the job's processes are known by now. Of thousands there are few looks.

        `always` asks for one at the first and the last reading, between which their packets are compared.
        """
        self.jobs.update(of_job)
        now_s, before_s = time.monotonic(), time.process_time()
        if now_s < self.next_s and not always:
            return
        with contextlib.suppress(OSError):  # before Linux 4.17
            found = queue_pairs() if self.ports else {}
            self.held.update(found)
            self.old = dict(found) if self.old is None else self.old
            self.moved.update(one for one in found if one in self.old and found[one] != self.old[one])
        self.next_s = now_s + (time.process_time() - before_s) / HOLDERS_SHARE

    def add_holders(self, counters):
        """Add to the counters of ports how many queue pairs were seen: the job's, others', and those of before.

        One of before that sent or got a packet meanwhile is like any other of others.
        """
        for device, port, _ in self.ports:
            if device in self.numbers and device + "/" + port in counters:
                counters[device + "/" + port][VERBS_NUMBER] = self.numbers[device]
        for device, port, _ in self.ports if self.old is not None else ():
            mine = [one for one in self.held if one[0] == device]
            jobs_count = len([one for one in mine if one[2] in self.jobs])
            idle = [one for one in mine if one in self.old and one not in self.moved]
            old_count = len([one for one in idle if one[2] not in self.jobs])
            counts = (jobs_count, len(mine) - jobs_count - old_count, old_count)
            names = (JOBS_QUEUE_PAIRS, OTHERS_QUEUE_PAIRS, OLD_QUEUE_PAIRS)
            counters.get(device + "/" + port, {}).update(zip(names, counts))

    def lag_s(self):
        """Return by how much the counters of some port are late: a card of bnxt_re writes its own once a second."""
        return max([LATE_S for one in self.counters().values() if LATE_BY in one] + [0.0])

    def statistics(self):
        """Return what `rdma statistic` tells; the files in /sys lack some of it on some kernels."""
        program = shutil.which("rdma", path=os.environ.get("PATH", "/usr/bin:/bin") + ":/usr/sbin:/sbin")
        if not self.ports or program is None or not program.startswith("/"):
            return {}
        try:
            done = subprocess.run(
                [program, "-j", "statistic", "show"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, timeout=2,
            )  # fmt: skip
            return statistics_in(done.stdout.decode("utf-8", "replace"))
        except (OSError, ValueError, subprocess.SubprocessError):
            return {}


def queue_pairs():
    """Return (device, number, process) of all queue pairs but the kernel's own for management; raises OSError.

    With each the numbers of its next packets, in and out, as far as the kernel tells them.
    """
    found = {}
    for _, content in list(dump(NETLINK_RDMA, RDMA_GET, b"")):
        about = dict(attributes(content, 0))
        name = about[DEVICE_NAME].rstrip(b"\0").decode()
        request = struct.pack("=HH4s", 8, DEVICE_INDEX, about[DEVICE_INDEX])
        for _, answer in dump(NETLINK_RDMA, RDMA_QUEUE_PAIRS, request):
            entries = dict(attributes(answer, 0)).get(QUEUE_PAIRS, b"")
            for _, entry in attributes(entries, 0):
                one = dict(attributes(entry, 0))
                pid = struct.unpack("=I", one[HOLDER])[0] if HOLDER in one else 0
                if pid or one.get(QUEUE_PAIR_TYPE, b"")[:1] not in OF_MANAGEMENT:
                    number = struct.unpack("=I", one[QUEUE_PAIR_NUMBER])[0]
                    found[name, number, pid] = tuple(one.get(kind) for kind in PACKET_NUMBERS)
    return found


def statistics_in(text):
    """Return `DEVICE/PORT` to what `rdma -j statistic show` says."""
    found = {}
    for link in json.loads(text or "[]"):
        counters = {"hw." + name: value for name, value in link.items() if isinstance(value, int)}
        for name in ("hw.ifindex", "hw.port"):
            counters.pop(name, None)
        if link.get("ifname"):
            found["%s/%s" % (link["ifname"], link.get("port", 1))] = counters
    return found


def files_of(folder, prefix):
    """Return the numbers in a folder's files; one that cannot be read is left out, like a counter that is not there."""
    found = {}
    try:
        names = os.listdir(folder)
    except OSError:
        return found
    for name in names:
        text = read(os.path.join(folder, name)).split()[:1]
        if name != "lifespan" and text and text[0].isdigit():  # lifespan is a setting
            found[prefix + name] = int(text[0])
    return found


class Drivers:
    """What drivers count besides: `ethtool -S`."""

    def __init__(self, problems):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.problems = problems

    def ask(self, name, request, size):
        buffer = array.array("B", request + bytes(size - len(request)))
        address, _ = buffer.buffer_info()
        fcntl.ioctl(self.socket, SIOCETHTOOL, struct.pack("16sP", name.encode(), address))
        return buffer.tobytes()

    def statistics(self, name):
        """Return the counters of one interface's driver, without those of single queues; raises OSError."""
        answer = self.ask(name, struct.pack("=IIQI", ETHTOOL_GSSET_INFO, 0, 1 << ETH_SS_STATS, 0), 20)
        count = struct.unpack_from("=QI", answer, 8)
        if not count[0] or not count[1]:
            return {}
        room = 2 * count[1] + 64  # it may grow before it is read
        texts = self.ask(name, struct.pack("=III", ETHTOOL_GSTRINGS, ETH_SS_STATS, count[1]), 12 + 32 * room)
        values = self.ask(name, struct.pack("=II", ETHTOOL_GSTATS, count[1]), 8 + 8 * room)
        read_count = min(struct.unpack_from("=I", texts, 8)[0], struct.unpack_from("=I", values, 4)[0], room)
        found = {}
        for index in range(read_count):
            text = texts[12 + 32 * index : 44 + 32 * index].partition(b"\0")[0].decode("ascii", "replace").strip()
            if text and not PER_QUEUE.match(text):
                found["driver." + text] = struct.unpack_from("=Q", values, 8 + 8 * index)[0]
        return found

    def all(self, names):
        found = {}
        names = [name for name in names if name != "lo"]
        if len(names) > MAX_DRIVERS:
            self.problems["ethtool -S"] = "%d interfaces; the first %d were asked" % (len(names), MAX_DRIVERS)
        for name in names[:MAX_DRIVERS]:
            try:
                found[name] = self.statistics(name)
            except OSError:  # its driver counts nothing besides
                continue
        return found

    def mtu_bytes(self, names):
        found = {}
        for name in names:
            try:
                answer = fcntl.ioctl(self.socket, SIOCGIFMTU, struct.pack("16sI12x", name.encode(), 0))
            except OSError:
                continue
            found[name] = struct.unpack_from("=I", answer, 16)[0]
        return found
