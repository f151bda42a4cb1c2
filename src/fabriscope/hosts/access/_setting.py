# ruff: noqa: F821, PTH115, PTH123, UP022
# (The host's Python may be as old as 3.6; names of orders.py and of _collector.py, sent before this, are used.)
# mypy: ignore-errors
# Holds one setting of a host changed for as long as somebody waits here, or puts one back later. Plain Python 3.6.
#
# A setting: path, read_argv, read_pattern, set_argv, restore_argv, new (see Change in changes.py). `hold` is told:
# setting, patience_s. It says the old value and where it stands, then hears single bytes: `S` set it, `.` we are
# still here, `R` put it back, `L` leave it so. Their end, silence, or a signal puts it back. `put_back_later` is told:
# setting, old, place, survives_reboot, is_dry; it says what came of it.
import contextlib
import json
import os
import re
import select
import subprocess

ARGV_TIMEOUT_S = 30
MOST_BYTES = 65536
THERE, ABSENT = "there", "absent"


class Refused(Exception):
    """A value cannot be read or written; the text says why."""


def hold():
    order, _ = read_order()
    setting, asked, old, is_set = order["setting"], signals(), None, False
    try:
        old = value(setting)
    except Refused as error:
        return say({"problem": str(error)})
    say({"old": old, "place": place()})
    while True:
        ready, _, _ = select.select([0, asked], [], [], order["patience_s"])
        word = os.read(0, 1) if ready == [0] else b""
        if word == b"S":
            is_set = True
            done = set_new(setting, old)
            say(done)
            if done["problem"]:
                return None
        elif word == b"L":
            return say({"outcome": "left"})
        elif word != b".":  # we are asked to, or nobody waits any more
            return say(put_back(setting, old) if is_set else {"outcome": "already"})


def put_back_later():
    order, _ = read_order()
    signals()
    here, there = place(), order["place"]
    has_rebooted = here["boot_id"] != there["boot_id"]
    if has_rebooted and not order["survives_reboot"]:
        say({"outcome": "rebooted"})
    elif not has_rebooted and here["network"] != there["network"]:
        say({"outcome": "elsewhere"})
    else:
        say(put_back(order["setting"], order["old"], is_dry=order["is_dry"]))


def say(words):
    with contextlib.suppress(OSError):  # nobody hears us
        os.write(1, BEGIN + json.dumps(words).encode() + b"\n")


def place():
    """Where a setting stands: boot and network namespace. An interface of another namespace is another one."""
    with open("/proc/sys/kernel/random/boot_id") as file:
        return {"boot_id": file.read().strip(), "network": os.readlink("/proc/self/ns/net")}


def set_new(setting, old):
    """Set the new value; what fails half way is put back at once."""
    try:
        act(setting, setting["set_argv"], setting["new"], old)
        now = value(setting)
        why = None if now == setting["new"] else f"it reads {now!r} after {setting['new']!r} was set"
    except Refused as error:
        why = str(error)
    undone = {"outcome": "restored"} if why is None else put_back(setting, old, is_ours=True)
    return {"problem": why, "is_back": undone["outcome"] in ("restored", "already")}


def put_back(setting, old, is_ours=False, is_dry=False):
    """Put the old value back where ours stands; what somebody else has set meanwhile is left alone."""
    try:
        now = value(setting)
        if now == old:
            return {"outcome": "already"}
        if now != setting["new"] and not is_ours:
            return {"outcome": "changed", "now": now}
        if is_dry:
            return {"outcome": "restored"}
        why = ""
        try:
            act(setting, setting["restore_argv"], old, old)
        except Refused as error:  # of two that do it at once the second fails
            why = str(error)
        now = value(setting)
        return {"outcome": "restored"} if now == old else {"outcome": "failed", "why": why or f"it reads {now!r}"}
    except Refused as error:
        return {"outcome": "failed", "why": str(error)}


def value(setting):
    """Return what stands; of `always [madvise] never` the choice."""
    path = setting["path"]
    if setting["read_argv"]:
        return part_of(run(setting["read_argv"]), setting)
    if setting["set_argv"]:
        return THERE if os.path.lexists(path) else ABSENT
    try:
        with open(path, "rb") as file:
            text = file.read(MOST_BYTES).decode("utf-8", "replace").strip()
    except OSError as error:
        raise Refused(f"{path}: {reason_of(error)}") from error
    words = text.split()
    chosen = [word[1:-1] for word in words if word.startswith("[") and word.endswith("]")]
    return chosen[0] if len(chosen) == 1 and len(words) > 1 else text


def part_of(text, setting):
    """Return what a pattern means of a text; all of it where there is none."""
    if not setting["read_pattern"]:
        return text
    match = re.search(setting["read_pattern"], text, re.MULTILINE)
    if match is None:
        raise Refused(f"{named(setting['read_argv'])} tells no value of it that could be changed")
    return match.group(1)


def act(setting, argv, text, old):
    """Give the setting a value: by a program, `{old}` in whose words is the old one, or by writing its file."""
    if argv:
        return run([word.replace("{old}", old) for word in argv])
    line = text.encode() + b"\n"
    try:
        descriptor = os.open(setting["path"], os.O_WRONLY)
        try:
            os.write(descriptor, line)
            with contextlib.suppress(OSError):  # a file of /sys has no length
                os.ftruncate(descriptor, len(line))
        finally:
            os.close(descriptor)
    except OSError as error:
        raise Refused(f"{setting['path']}: {reason_of(error)}") from error


def named(argv):
    """Return a command as a sentence has it; of a script of ours the words that it is given."""
    is_script = argv[:2] == ["sh", "-c"]
    return f"a script with the words {' '.join(argv[4:])}" if is_script else f"`{' '.join(argv)}`"


def run(argv):
    """Return what a program prints; signals that end us leave it alone."""
    try:
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(os.environ, LC_ALL="C", PATH=search_path()),
            timeout=ARGV_TIMEOUT_S,
            start_new_session=True,
        )
    except OSError as error:
        raise Refused(f"{argv[0]}: {reason_of(error)}") from error
    except subprocess.TimeoutExpired:
        raise Refused(f"{named(argv)} did not end within {ARGV_TIMEOUT_S} s") from None
    said = " ".join((done.stderr or done.stdout).decode("utf-8", "replace").split())
    if done.returncode != 0:
        raise Refused(f"{named(argv)} failed: {said or f'exit status {done.returncode}'}")
    return done.stdout.decode("utf-8", "replace").strip()
