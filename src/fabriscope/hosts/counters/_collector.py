# ruff: noqa: F821, PTH123, UP031
# (The host's Python may be as old as 3.6; names of the other files here, which are sent before this, are used.)
# mypy: ignore-errors
# Reads all counters of a host until it is asked to end. Plain Python 3.6, sent as text, never installed.
#
# It says, each in a line of JSON behind BEGIN: what the host is, its readings, and that it is ready once the first one
# is taken. A reading holds what has changed since the one before it.
import contextlib
import json
import os
import signal
import time

FIRST_TICK_S, LAST_TICK_S, TICK_GROWTH = 0.005, 0.1, 1.2
TICK_SHARE, LONGEST_TICK_S = 0.005, 1.0
EAGER_S = 10.0  # a launcher's ranks are waited for this long with the shortest tick: some live for some milliseconds
# How long the memory of new processes is watched for changes: of a short job the messages are its last moments.
PEEKS_S, PEEK_TICK_S, PEEK_SHARE = 1.5, 0.02, 0.02
LOOKS_INSIDE_S = (
    0.005, 0.01, 0.02, 0.03, 0.04, 0.05, 0.075, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0,
    10.0, 20.0, 60.0,
)  # fmt: skip
LOOK_SHARE, LOOK_ALLOWANCE_S = 0.01, 0.2
LAST_WORDS_S, LAST_WORDS_LIMIT_S, OWED_LIMIT_S = 0.01, 0.1, 2.0  # a busy kernel says them late
SENDING_S, SENDING_LIMIT_S = 0.02, 6.0  # what the job left to be sent is waited for
MOST_READINGS = 300  # of a job's time until now; of a longer one they grow apart
NICENESS, NICE_AFTER_S = 10, 1.0
LEAST_COUNTED = 10000  # bytes of an interface that are worth a word
CAME_AND_WENT = "interfaces that came and went between two readings"
ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Collector:
    """Takes the readings and says them."""

    def __init__(self, order):
        self.problems = {}
        self.interval_s = order["interval_s"]
        self.rdma = Rdma(order["sys_folder"])
        self.drivers = Drivers(self.problems)
        self.processes = Processes(order["mark"], self.problems)
        self.sockets = Sockets(self.problems, self.processes.births, self.processes.spaces)
        self.moments = Moments(order.get("moments", {}), self.drivers, self.rdma.folder, self.problems)
        self.said = {}
        self.said_links, self.unsaid_links = {}, {}
        self.link_news = LinkNews()
        self.cost_s = self.looked_s = self.late_s = 0.0
        self.looks_s = []

    def host(self):
        """Say what the host is."""
        names = list(interfaces())
        say({
            "kind": "host", "boot_id": read("/proc/sys/kernel/random/boot_id").strip(),
            "namespace": self.processes.spaces.own.partition("[")[2].rstrip("]"),
            "mtu_bytes": self.drivers.mtu_bytes(names), "rdma_interfaces": self.rdma.interfaces(), **self.links(),
        })  # fmt: skip

    def links(self):
        """Return the addresses of interfaces, and what is beneath them; nothing where that was said before."""
        if not self.link_news.have_come() and self.said_links and not self.processes.spaces.entered:
            return {}
        try:
            addresses = interface_addresses()
        except OSError as error:
            self.problems["addresses"] = error.strerror or str(error)
            return {}
        try:
            lower = lower_interfaces(addresses)
        except OSError:  # then nothing is explained by nesting
            lower = {}
        spaces, doors = self.processes.spaces.addresses()
        links = {"addresses": addresses, "lower_interfaces": lower, "spaces": spaces, "doors": doors}
        before, self.said_links = self.said_links, links
        return {} if links == before else links

    def reading(self, is_whole):
        """Take a reading and say it; a whole one, the first and the last, asks drivers and programs too."""
        at_ns, unix_ns = int(time.monotonic() * 1e9), int(time.time() * 1e9)
        found = {"interfaces": interfaces(), "rdma": self.rdma.counters()}
        self.sockets.look()
        self.assign(is_whole)
        self.sockets.hear()
        if is_whole:
            self.sockets.give_up()
        found["protocols"] = protocols()
        self.rdma.add_holders(found["rdma"])
        drivers = self.drivers.all(found["interfaces"]) if is_whole else {}
        if is_whole:
            for port, counters in self.rdma.statistics().items():
                for name, value in counters.items():
                    found["rdma"].setdefault(port, {}).setdefault(name, value)
        words = {"kind": "reading", "at_ns": at_ns, "unix_ns": unix_ns, "drivers": drivers}
        seen = {*found["interfaces"], *self.said.get("interfaces", {})}
        words.update((group, self.news(group, values)) for group, values in found.items())
        self.note_links()
        self.note_removed(seen)
        if self.unsaid_links:
            words["links"], self.unsaid_links = self.unsaid_links, {}
        words["connections"] = self.sockets.rows()
        words["processes"] = self.processes.rows()
        words["other_datagrams"] = sorted(self.sockets.datagrams.others)
        words["job_datagrams"] = self.sockets.datagrams.are_jobs
        words["ownership"] = self.processes.ownership()
        words["own_datagrams"] = self.own_datagrams() if is_whole else None
        words["strays"], words["left"] = self.processes.spaces.stray_rows(), self.processes.left() if is_whole else []
        words["cost_ns"], words["late_ns"] = self.cost_ns(), int(self.late_s * 1e9)
        say(words)

    def own_datagrams(self):
        """Return what the job's sockets moved by UDP, by interface; None where some may lack."""
        if self.sockets.datagrams.are_strangers:
            return None
        names = dict(interface_names())
        names.update(FIRST_NAMES)
        return self.processes.moved.counts(names)

    def note_links(self):
        """Keep for the next reading what addresses came between two of them; some may be gone by then."""
        for part, found in self.links().items():
            kept = self.unsaid_links.setdefault(part, {})
            for name, texts in found.items():
                kept[name] = sorted({*kept.get(name, []), *texts})

    def note_removed(self, seen):
        """Keep as a problem which interfaces came after a reading and went before this one, and what they counted."""
        removed, self.link_news.last_counts = self.link_news.last_counts, {}
        for name, size in removed.items():
            if name not in seen and size >= LEAST_COUNTED:
                words = "%s (%.3g MB)" % (name, size / 1e6)
                before = self.problems.get(CAME_AND_WENT)
                self.problems[CAME_AND_WENT] = "%s, %s" % (before, words) if before else words

    def news(self, group, values):
        """Return what differs from what was said of a group before; None for what has gone."""
        before = self.said.get(group, {})
        self.said[group] = values
        news = {name: None for name in before if name not in values}
        news.update(
            (name, value if not isinstance(value, dict) else changes(before.get(name, {}), value))
            for name, value in values.items()
            if name not in before or before[name] != value
        )
        return news

    def cost_ns(self):
        """Return the processor time since this was asked last."""
        before, self.cost_s = self.cost_s, time.process_time()
        return int((self.cost_s - before) * 1e9)

    def assign(self, always):
        """Find out whose the connections are; whoever is young may have become one of the job's meanwhile."""
        self.processes.look(time.monotonic(), also_young=True)
        self.sockets.enter()
        if always or self.sockets.has_new(self.processes.owners):
            self.processes.look_inside(unix_peers() if self.processes.of_job else {})
            self.processes.note_listeners(self.sockets.listeners)
        self.sockets.assign(self.processes)
        if self.sockets.confide(self.processes):
            self.sockets.assign(self.processes)
        self.sockets.datagrams.look(self.processes)
        self.rdma.note_holders(self.processes.of_job, always)

    def tick(self, now_s):
        """Look for new processes, and inside those that are new of the job's a few times, while that costs little.

        Return whether there were any.
        """
        is_news = self.processes.look(now_s) > 0
        self.sockets.enter()
        self.note_links()
        if is_news:
            self.news_s = now_s
            self.looks_s = self.looks_s[:1] + [now_s + after_s for after_s in LOOKS_INSIDE_S]
        self.sockets.hear()
        if now_s < self.news_s + PEEKS_S:
            is_news |= self.processes.peek()
        if self.processes.have_new_channels():
            self.looks_s = [now_s, *self.looks_s]
        if self.looks_s and self.looks_s[0] <= now_s:
            self.looks_s = [at_s for at_s in self.looks_s if at_s > now_s]
            if self.looked_s < LOOK_ALLOWANCE_S + LOOK_SHARE * (now_s - self.began_s):
                before_s = time.process_time()
                self.sockets.look()
                self.assign(True)
                self.looked_s += time.process_time() - before_s
        return is_news

    def run(self):
        """Take readings until we are asked to end, or left alone; then the last one."""
        parent = os.getppid()
        self.began_s = self.news_s = time.monotonic()
        self.host()
        self.reading(True)
        say({"kind": "ready"})
        next_s, tick_s, is_nice = self.began_s + self.interval_s, FIRST_TICK_S, False
        niceness = os.getpriority(os.PRIO_PROCESS, 0)
        ticked_s = time.monotonic()
        while os.getppid() == parent:
            until_s = min([next_s, ticked_s + tick_s, *self.looks_s[:1]])
            if signal.sigtimedwait(ENDING, max(min(until_s, self.moments.next_s) - time.monotonic(), 0)) is not None:
                break
            now_s = time.monotonic()
            self.moments.take(now_s)
            if now_s < until_s:
                continue
            if self.processes.of_job:
                self.late_s = max(self.late_s, now_s - until_s)
            before_s = time.process_time()
            is_news = self.tick(now_s)
            if is_news or (self.processes.awaits_ranks() and now_s < self.began_s + EAGER_S):
                tick_s = FIRST_TICK_S
            else:  # where a tick costs much (guests), there are few of them
                is_new = self.processes.of_job and now_s < self.news_s + PEEKS_S
                share, least_s = (PEEK_SHARE, PEEK_TICK_S) if is_new else (TICK_SHARE, LAST_TICK_S)
                affordable_s = min((time.process_time() - before_s) / share, LONGEST_TICK_S)
                tick_s = min(tick_s * TICK_GROWTH, max(least_s, affordable_s))
            if is_nice != (now_s > self.news_s + NICE_AFTER_S):
                is_nice = not is_nice
                give_way(niceness + NICENESS if is_nice else niceness)
            if now_s >= next_s:
                self.reading(False)
                next_s = max(next_s + apart_s(self.interval_s, now_s - self.began_s), time.monotonic())
            ticked_s = time.monotonic()
        self.moments.take(self.moments.next_s)
        for words in self.moments.rows():
            say(words)
        self.end()

    def end(self):
        """Take the last reading, once the kernel has told of what was closed last."""
        self.processes.look(time.monotonic())
        self.wait_for_last_words()
        until_s, unsent = time.monotonic() + SENDING_LIMIT_S, self.unsent()
        while unsent >= LEAST_COUNTED and time.monotonic() < until_s:
            time.sleep(SENDING_S)
            unsent = self.unsent()
        time.sleep(self.rdma.lag_s())
        self.reading(True)
        say({"kind": "unsent", "size_bytes": unsent})  # as it was before that: what goes in between is in neither else
        if self.sockets.lost_count:
            self.problems["closed connections"] = "%d went without a last word" % self.sockets.lost_count

    def wait_for_last_words(self):
        self.sockets.look()
        began_s, limit_s = time.monotonic(), LAST_WORDS_S
        while time.monotonic() < began_s + limit_s:
            time.sleep(LAST_WORDS_S)
            is_news = self.sockets.hear() > 0
            limit_s = OWED_LIMIT_S if self.sockets.owes() else LAST_WORDS_LIMIT_S if is_news else 0

    def unsent(self):
        """Return how many bytes the job left to the kernel: what waits in queues beside TCP may be its datagrams."""
        self.sockets.look()
        self.sockets.assign(self.processes)
        mine, every = self.sockets.unsent()
        return mine + max(0, queued_bytes() - every)


def apart_s(interval_s, elapsed_s):
    """Return the time to the next reading: of hours there are not many more of them than of minutes."""
    return max(interval_s, elapsed_s / MOST_READINGS)


def changes(before, now):
    return {name: value for name, value in now.items() if before.get(name) != value}


def say(words):
    text = json.dumps(words, separators=(",", ":")) + "\n"
    view = memoryview(BEGIN + text.encode())
    while view:
        view = view[os.write(1, view) :]


def main(order):
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    problems = {}
    try:
        collector = Collector(order)
        problems = collector.problems
        collector.run()
    except Exception as error:
        problems["collector"] = "line %s: %s: %s" % (line_of(error), type(error).__name__, error)
        say({"kind": "ready"})
    say({"kind": "end", "problems": problems})


def give_way(niceness):
    """Leave the processors to whoever measures; not in the first moments of a process, which are over soon.

    Only root gets them back.
    """
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, niceness)
        with open("/proc/self/autogroup", "w") as file:  # a session of its own is niced as a whole
            file.write(str(niceness))


def line_of(error):
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace.tb_lineno if trace is not None else "?"
