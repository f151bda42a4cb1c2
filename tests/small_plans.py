"""Plans of a few lines in tests: written to a file, refused with a line, and their runs interrupted."""

from __future__ import annotations

import re
import threading
from pathlib import Path
from typing import Any

import pytest

from fabriscope.model.errors import PlanError
from fabriscope.plan import load
from fabriscope.progress import QuietProgress
from fabriscope.running.vocabulary import vocabulary


def written(text: str, folder: Path) -> Path:
    """Return the file of a plan."""
    path = folder / "plan.yaml"
    path.write_text(text)
    return path


def refused(text: str, folder: Path) -> str:
    """Return the sentence by which a plan is refused, which names its file and a line."""
    with pytest.raises(PlanError) as caught:
        load(written(text, folder), vocabulary())
    sentence = str(caught.value)
    assert re.search(r"plan\.yaml:\d+", sentence), sentence
    return sentence


class Interrupting(QuietProgress):
    """Presses Ctrl-C after some launches, or does something else there."""

    def __init__(self, count: int, cancel: threading.Event, then: Any = None) -> None:
        super().__init__()
        self._left = count
        self._cancel = cancel
        self._then = then

    def launch_ended(self, *words: Any) -> None:
        """Count the launch."""
        super().launch_ended(*words)
        self._left -= 1
        if self._left == 0:
            (self._then or self._cancel.set)()
