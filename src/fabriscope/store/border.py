"""The border between what a folder holds and what is computed of it."""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Iterator
from pathlib import Path

from fabriscope.model.errors import FabriscopeError, StoreError
from fabriscope.store.checks import check_folder


@contextlib.contextmanager
def evaluating(path: Path) -> Iterator[None]:
    """Turn whatever ends the evaluation of a folder into StoreError that names the file at fault, as far as known.

    The readers refuse what has another shape; this is for what has the right shape and makes no sense, which only
    somebody else can have written.
    """
    try:
        yield
    except (FabriscopeError, OSError):
        raise
    except BaseException as error:  # what polars panics with is no Exception
        if isinstance(error, KeyboardInterrupt | SystemExit | GeneratorExit) or type(error).__module__ == "click.exceptions":
            raise
        raise _refused(path, error) from error


def _refused(path: Path, error: BaseException) -> StoreError:
    findings = check_folder(path).findings
    last = traceback.extract_tb(error.__traceback__)[-1]
    words = " ".join(f"{type(error).__name__}: {error}".split())[:300]
    what = f"it cannot be evaluated ({words}, at {Path(last.filename).name}:{last.lineno})"
    if findings:
        what = f"{findings[0].sentence()}; {what}"
    else:
        what = f"manifest.json, journal.jsonl or a file of samples or counters has what no fabriscope writes: {what}"
    return StoreError(what, where=str(path), fix="`fabriscope verify` says what contradicts what")
