"""What a check of stored things found: where it is, and what is wrong there."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One place that is not as it was written, or that contradicts another."""

    file: str
    """Path, relative to the run's folder where it lies inside."""
    place: str
    """Line, row or field in words; empty for the whole file."""
    what: str

    def sentence(self) -> str:
        """Return `samples/launch-0003.parquet: row 17, value: it was changed after it was written`."""
        return ": ".join(part for part in (self.file, self.place, self.what) if part)


@dataclass(frozen=True)
class Account:
    """What a check came to."""

    findings: tuple[Finding, ...] = ()
    """Nothing may be believed while there are any."""
    notes: tuple[str, ...] = ()
    """What could not be told, and why; it refutes nothing."""
    checked: tuple[str, ...] = ()
    """What was compared, in words with counts."""

    def __add__(self, other: Account) -> Account:
        return Account(self.findings + other.findings, self.notes + other.notes, self.checked + other.checked)
