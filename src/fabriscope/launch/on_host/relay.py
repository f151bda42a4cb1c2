# ruff: noqa: F821
# (The host's Python may be as old as 3.6; BEGIN and names of orders.py, which are sent before this, are used.)
# mypy: ignore-errors
# Does one small job on a host and hands it on to the hosts below. Plain Python 3.6, sent as text, never installed.
#
# Its order: name, nodes, request, patience_s; then single bytes that say that somebody still waits. A node has a name,
# the argv that reaches it from here, and nodes of its own. The job is a function `answer(request, body)`, and
# `at_end(request)` if it has something to do once nobody waits any more. Standard output: one line for every host at or
# below this one, BEGIN and JSON: its answer, or why there is none.
import json
import os
import select
import signal
import subprocess
import threading

AT_ONCE = 32
END_PATIENCE_S = 5.0
REASON_CHARACTERS = 300

SAY = threading.Lock()
SLOTS = threading.Semaphore(AT_ONCE)
RUNNING = []  # programs that the job started and that must not outlive it


def relay():
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the one who waits for us, and then us
    order, body = read_order()
    children = [Child(node, order, body) for node in order["nodes"]]
    for child in children:
        child.start()
    if order["name"] is not None:
        threading.Thread(target=do_job, args=(order, body), daemon=True).start()
    wait_until_gone(order["patience_s"], children)
    for child in children:
        child.close()
    for process in RUNNING:
        process.kill()
    if order["name"] is not None and "at_end" in globals():
        globals()["at_end"](order["request"])
    for child in children:
        child.join(END_PATIENCE_S)
        child.end()
    os._exit(0)


def do_job(order, body):
    try:
        said = {"host": order["name"], "answer": globals()["answer"](order["request"], body)}
    except Exception as error:
        said = {"host": order["name"], "error": f"{type(error).__name__}: {error}", "status": 0}
    say(json.dumps(said).encode())


def say(line):
    with SAY:
        view = memoryview(BEGIN + line + b"\n")
        try:
            while view:
                view = view[os.write(1, view) :]
        except OSError:  # nobody hears us: standard input tells the same
            pass


def wait_until_gone(patience_s, children):
    while True:
        ready, _, _ = select.select([0], [], [], patience_s)
        if not ready or not os.read(0, 4096):
            return
        for child in children:
            child.beat()


class Child(threading.Thread):
    """One host below this one."""

    def __init__(self, node, order, body):
        threading.Thread.__init__(self, daemon=True)
        self.node = node
        self.is_direct = order["name"] is None
        self.missing = set(names_of(node))
        self.process = None
        self.is_closed = False
        self.lock = threading.Lock()  # of the process and its standard input
        own = dict(order, name=node["name"], nodes=node["nodes"])
        self.parts = [T + P, told(own, body)]  # T and P are the text that we are

    def run(self):
        SLOTS.acquire()  # ends: with this program, whose main thread watches whether somebody still waits
        try:
            status, reason = self.hear()
        except OSError as error:
            SLOTS.release()
            status, reason = None, f"{self.node['argv'][0]}: {reason_of(error)}"
        for name in sorted(self.missing):
            words = {"host": name, "error": reason[-REASON_CHARACTERS:], "status": status}
            say(json.dumps(dict(words, was_direct=self.is_direct and name == self.node["name"])).encode())

    def hear(self):
        """Hand on what the host says until it ends; return how it ended, and its last other words."""
        with self.lock:
            if self.is_closed:
                raise OSError(0, "nobody waits any more")
            self.process = subprocess.Popen(
                self.node["argv"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        threading.Thread(target=self.tell, daemon=True).start()
        has_slot, said = True, ""
        # ends: with the process; in a thread that nobody waits for
        for line in self.process.stdout:
            if line.startswith(BEGIN):
                self.missing.discard(json.loads(line[1:].decode())["host"])
                say(line[1:-1])
            else:
                said = line.decode("utf-8", "replace").strip() or said
            if has_slot and line.startswith(BEGIN):
                has_slot = False
                SLOTS.release()
        if has_slot:
            SLOTS.release()
        os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOWAIT)  # ends: it has closed its output; as above
        self.kill()
        status = self.process.wait()  # ends: it has ended
        return status, said or f"it ended with exit status {status} and said nothing"

    def tell(self):
        with self.lock:
            try:
                for part in self.parts:
                    self.process.stdin.write(part)
                self.process.stdin.flush()
            except (OSError, ValueError):  # it has ended; its output says why
                pass
            self.parts = None

    def beat(self):
        """Say that somebody still waits; a host that does not take its order yet holds up nobody."""
        if self.lock.acquire(False):  # ends: at once
            try:
                if self.parts is None:
                    self.process.stdin.write(b".")
                    self.process.stdin.flush()
            except (OSError, ValueError):
                pass
            finally:
                self.lock.release()

    def close(self):
        """End its standard input: the host and all below it stop waiting. One that takes no order is ended."""
        self.is_closed = True
        has_lock = self.lock.acquire(timeout=0.5)
        if self.process is not None:
            try:
                if has_lock:
                    self.process.stdin.close()
                else:
                    self.kill()
            except (OSError, ValueError):
                pass
        if has_lock:
            self.lock.release()

    def end(self):
        if self.process is not None and self.is_alive():
            self.kill()

    def kill(self):
        """End the program, unless it was reaped, and what it has beside it, as srun has a process, stopped or not."""
        if self.process.returncode is None:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except OSError:  # nothing of it is left
                return


def names_of(node):
    yield node["name"]
    for below in node["nodes"]:
        yield from names_of(below)
