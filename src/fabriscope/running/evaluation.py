"""The border between what a run's folder holds and what is computed of it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from fabriscope import bug_log
from fabriscope.model.errors import FabriscopeError, StoreError
from fabriscope.store.checks import check_folder


@contextlib.contextmanager
def evaluating(path: Path) -> Iterator[None]:
    """Turn whatever ends the evaluation of a folder into a StoreError that names the file at fault, as far as known.

    What has another shape than ours is refused where it is read; this is for what has the right shape and makes no
    sense. A log keeps the traceback, since the mistake may be ours.
    """
    try:
        yield
    except (FabriscopeError, OSError):
        raise
    except BaseException as error:  # what polars panics with is no Exception
        if isinstance(error, bug_log.PASSED_BY) or type(error).__module__.startswith("click"):
            raise
        raise _refused(path, error) from error


def _refused(path: Path, error: BaseException) -> StoreError:
    findings = check_folder(path).findings
    log = bug_log.keep(error, f"evaluating {path}")
    at_fault = (
        findings[0].sentence()
        if findings
        else "manifest.json, journal.jsonl, samples or counters hold what makes no sense, or fabriscope has a mistake"
    )
    kept = f"; if that finds nothing, please report it with {log}" if log else ""
    return StoreError(
        f"it cannot be evaluated: {at_fault} ({bug_log.sentence(error)})",
        where=str(path),
        fix=f"`fabriscope verify` says what was changed{kept}",
    )
