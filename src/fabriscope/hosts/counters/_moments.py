# ruff: noqa: B905, F821, PTH118, RUF007, UP031
# (The host's Python may be as old as 3.6; names of the other files here, which are sent before this, are used.)
# mypy: ignore-errors
# What one interface and one RDMA port count, moment by moment. Plain Python 3.6, sent to hosts as text.
import os
import re
import time

SHORTEST_PERIOD_S, MOMENTS_SHARE, MOST_MOMENTS = 0.01, 0.01, 8192
WAKING = 1.5  # what a look costs together with waking up for it, over what it costs
LEAST_LOOKS = 20  # what a few cost says little where the kernel counts by ticks of 4 ms
OF_INTERFACES = ("rx_bytes", "rx_packets", "rx_dropped", "tx_bytes", "tx_packets", "tx_dropped")
OF_PORTS = (
    "counters/port_rcv_data", "counters/port_xmit_data", "counters/port_xmit_wait", "hw_counters/rcvd_pkts",
    "hw_counters/sent_pkts", "hw_counters/completer_retry_err", "hw_counters/rcvd_rnr_err", "hw_counters/send_rnr_err",
    "hw_counters/duplicate_request", "hw_counters/out_of_seq_request", "hw_counters/packet_seq_err",
    "hw_counters/local_ack_timeout_err", "hw_counters/rnr_nak_retry_err", "hw_counters/out_of_sequence",
    "hw_counters/rp_cnp_handled", "hw_counters/np_cnp_sent",
)  # fmt: skip
PAUSE_FRAMES = re.compile(r"driver\.([rt]x)_(prio[0-7]_pause|global_pause|pause(_frames)?|flow_control_xoff)$")


class InterfaceCounts:
    """What /proc/net/dev says of an interface, and how many pause frames its driver counts."""

    def __init__(self, name, drivers):
        self.name, self.drivers = name, drivers
        self.line = re.compile(rb"^ *" + re.escape(name).encode() + rb":(.*)\n", re.M)
        self.file = os.open("/proc/self/net/dev", os.O_RDONLY | os.O_CLOEXEC)
        self.names = list(OF_INTERFACES)
        self.has_pauses = bool(self.pauses())
        self.names += ["rx_pause_frames", "tx_pause_frames"] if self.has_pauses else []

    def pauses(self):
        """Return the names and counts of pause frames; nothing where the driver tells of none."""
        try:
            counts = self.drivers.statistics(self.name)
        except OSError:
            return {}
        return {name: value for name, value in counts.items() if PAUSE_FRAMES.match(name)}

    def look(self):
        """Return what is counted now, as text; raises OSError."""
        text, part = b"", b"?"
        while part:
            part = os.pread(self.file, 1 << 16, len(text))
            text += part
            found = self.line.search(text)
            if found:
                counts = self.pauses() if self.has_pauses else {}
                return found.group(1), sorted(counts.items())
        raise OSError("there is no interface %s" % self.name)

    def values(self, look):
        """Return the counts of `names`."""
        line, pauses = look
        told = dict(zip(DEVICE_FIELDS, map(int, line.split())))
        values = [told[name] for name in OF_INTERFACES]
        if self.has_pauses:
            values += [sum(value for name, value in pauses if name[7:9] == way) for way in ("rx", "tx")]
        return values


class PortCounts:
    """The files of an RDMA port that tell what it moved, and what it had to send again."""

    def __init__(self, name, folder):
        self.name = name
        device, _, port = name.partition("/")
        place = os.path.join(folder, device, "ports", port)
        found = [one for one in OF_PORTS if read(os.path.join(place, one)).strip().isdigit()]
        self.names = [one.partition("/")[2] if one[0] == "c" else "hw." + one.partition("/")[2] for one in found]
        self.files = [os.open(os.path.join(place, one), os.O_RDONLY | os.O_CLOEXEC) for one in found]
        if not found:
            raise OSError("there is no RDMA port %s that counts" % name)

    def look(self):
        return [os.pread(file, 64, 0) for file in self.files]

    def values(self, look):
        return [int(text) for text in look]


class Moments:
    """Looks at an interface and a port again and again, seldom enough that it costs little, and keeps so many looks."""

    def __init__(self, order, drivers, rdma_folder, problems):
        self.counted, self.problems = [], problems
        for name, make in (
            (order.get("interface"), lambda name: InterfaceCounts(name, drivers)),
            (order.get("port"), lambda name: PortCounts(name, rdma_folder)),
        ):
            if name:
                try:
                    one = make(name)
                    self.counted.append((one, [one.look()], [time.monotonic()], [0.0]))
                except (OSError, ValueError) as error:
                    problems["counters of %s over time" % name] = error.strerror or str(error)
        self.offset_s = time.time() - time.monotonic()
        self.period_s, self.used_s, self.look_count = SHORTEST_PERIOD_S, 0.0, 0
        self.at_s = time.monotonic()
        self.next_s = self.at_s if self.counted else float("inf")

    def take(self, now_s):
        """Look, if it is time for it."""
        if now_s < self.next_s:
            return
        before_s, began_s = time.process_time(), self.at_s
        self.at_s = time.monotonic()
        for one, looks, ends_s, begins_s in self.counted:
            try:
                look = one.look()
            except OSError:  # it has gone
                continue
            if look != looks[-1]:
                looks.append(look)
                ends_s.append(self.at_s)
                begins_s.append(began_s)
            if len(looks) > MOST_MOMENTS:  # one of each two neighbours, and looks half as often from now on
                ends_s[1:], looks[1:], begins_s[1:] = ends_s[2::2], looks[2::2], begins_s[1:-1:2]
                self.period_s *= 2
        self.used_s += WAKING * (time.process_time() - before_s)
        self.look_count += 1
        cost_s = self.used_s / max(self.look_count, LEAST_LOOKS)
        self.next_s = max(self.next_s + max(self.period_s, cost_s / MOMENTS_SHARE), time.monotonic())

    def rows(self):
        """Return what to say of each device: by how much its counters grew in each period in which one did."""
        for one, looks, ends_s, begins_s in self.counted:
            values = [one.values(look) for look in looks]
            grown = [[max(now - was, 0) for was, now in zip(*pair)] for pair in zip(values[:-1], values[1:])]
            yield {
                "kind": "moments", "device": one.name, "since_unix_ns": self.unix_ns(ends_s[0]),
                "at_unix_ns": [self.unix_ns(at_s) for at_s in ends_s[1:]],
                "length_ns": [int((end - begin) * 1e9) for begin, end in zip(begins_s[1:], ends_s[1:])],
                "counters": {name: [row[place] for row in grown] for place, name in enumerate(one.names)},
            }  # fmt: skip

    def unix_ns(self, at_s):
        return int((at_s + self.offset_s) * 1e9)
