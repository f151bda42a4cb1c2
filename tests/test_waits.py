"""Every wait has an end: a time limit, or a comment beside it that begins with `ends:` and says what ends it."""

from __future__ import annotations

import ast
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "fabriscope"
WAITS = {"wait": 1, "communicate": 2, "join": 1, "acquire": 2, "waitpid": 9, "waitid": 9, "select": 4, "flock": 9}
"""Methods and functions that wait, and how many positional arguments one has that names a limit; 9: none does."""
READS = {"read", "readline", "readlines"}
"""Those of another process's output wait for it: a process that is stopped says nothing for ever."""
SUBPROCESSES = {"run", "check_output", "check_call", "call"}
NAMES = {*WAITS, *READS, *SUBPROCESSES, "get"}


def endless(text: str) -> list[int]:
    """Return the lines of a program that wait without a time limit and do not say what ends it."""
    lines = text.splitlines()
    found = []
    for node in filter(None, map(_waiting, ast.walk(ast.parse(text)))):
        near = lines[max(0, node.lineno - 2) : (node.end_lineno or node.lineno)]
        if not any("# ends:" in line for line in near):
            found.append(node.lineno)
    return sorted(found)


def _waiting(node: ast.AST) -> ast.expr | None:
    """Return what waits without a limit: a call, output of a process gone through, or the end of a block's process."""
    if isinstance(node, ast.For) and ast.unparse(node.iter).endswith((".stdout", ".stderr")):
        return node.iter
    if isinstance(node, ast.withitem) and ast.unparse(node.context_expr).startswith("subprocess.Popen("):
        return node.context_expr
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _is_endless(node, node.func):
        return node
    return None


def _is_endless(call: ast.Call, function: ast.Attribute) -> bool:
    name, named = function.attr, {keyword.arg for keyword in call.keywords}
    if name not in NAMES or "timeout" in named or "timeout_s" in named:
        return False
    of = ast.unparse(function.value)
    if of == "subprocess":
        return name in SUBPROCESSES
    if name in READS:
        return of.endswith(("process.stdout", "process.stderr"))
    if name == "get":
        return not call.args and not call.keywords
    if name == "flock":
        return "LOCK_EX" in ast.unparse(call) and "LOCK_NB" not in ast.unparse(call)
    if name in ("waitpid", "waitid"):
        return "WNOHANG" not in ast.unparse(call)
    if name == "join" and call.args:
        return False  # of a thread it would be a limit; of a string it is no wait
    if name == "select" and of != "select":
        return False
    return name in WAITS and len(call.args) < WAITS[name]


def test_every_wait_has_an_end() -> None:
    wrong = [
        f"{path.relative_to(SOURCE)}:{line}"
        for path in sorted(SOURCE.rglob("*.py"))
        for line in endless(path.read_text())
    ]
    assert wrong == []


def test_the_test_sees_an_endless_wait() -> None:
    text = """
process.wait()
process.wait(1)
process.communicate(timeout=1)
process.communicate()
thread.join()
", ".join(words)
subprocess.run(words)
subprocess.run(words, timeout=1)
fcntl.flock(file, fcntl.LOCK_EX)
fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
select.select([a], [], [])
select.select([a], [], [], 1)
# ends: with the program
process.wait()
process.stdout.read()
for line in process.stdout:
    print(line)
with subprocess.Popen(words) as process:
    pass
words.get()
names.get("name")
os.waitid(os.P_PID, pid, os.WEXITED)
"""
    assert endless(text) == [2, 5, 6, 8, 10, 12, 16, 17, 19, 21, 23]
