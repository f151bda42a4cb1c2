"""A Java program that tests ask again and again: what it takes to start one is spent once."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fabriscope.hosts import java_apps

COMPILE_LIMIT_S = 180.0
FRUGAL = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData")
"""For processes that live for seconds on few processors."""
ENDED = "ended with "
"""How the line begins that a program prints after each answer, before the status."""


def compile_into(folder: Path, name: str, source: str, app: str) -> None:
    """Compile one class with the classes of `fabriscope apps add APP`."""
    path = folder / f"{name}.java"
    path.write_text(source)
    options = [f"-J{option}" for option in FRUGAL]
    argv = [java_apps.program("javac"), *options, "-proc:none", "-cp", java_apps.classpath(app), str(path)]
    subprocess.run(argv, check=True, timeout=COMPILE_LIMIT_S)


@dataclass(frozen=True)
class KeptJava:
    """One that runs: each line that it reads is a question, its words apart by tabs."""

    process: subprocess.Popen[str]

    @classmethod
    def started(cls, argv: Sequence[str], errors: Path) -> KeptJava:
        """Start it; what it says beside its answers goes into a file."""
        with errors.open("wb") as file:
            pipe = subprocess.PIPE
            return cls(subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=file, text=True))

    def ask(self, *words: str) -> list[str]:
        """Return the lines of an answer, whose status must be 0."""
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write("\t".join(words) + "\n")
        self.process.stdin.flush()
        lines: list[str] = []
        for line in self.process.stdout:  # ends: with the answer, with the process, or by the test's time limit
            if line.startswith(ENDED):
                assert line == f"{ENDED}0\n", (words, lines, line)
                return lines
            lines.append(line.rstrip("\n"))
        raise AssertionError(f"it ended with {self.process.wait(30)} when it was asked {words}")

    def end(self) -> None:
        """End it by ending its input."""
        self.process.communicate(timeout=30)
