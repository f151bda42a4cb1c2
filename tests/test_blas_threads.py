"""Our process has no threads of OpenBLAS, and what it starts finds the variables as they were."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

ASKED = """
import os
from fabriscope.model import blas_threads
blas_threads.none_from_now_on()
given = dict(os.environ)
import numpy.linalg, scipy.linalg
assert numpy.linalg.det(numpy.eye(200)) == scipy.linalg.det(numpy.eye(200)) == 1
assert os.environ == given
print(len(os.listdir("/proc/self/task")))
"""


@pytest.mark.parametrize("given", [None, "1"])
def test_numpy_and_scipy_start_no_threads(given: str | None) -> None:
    env = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    env |= {} if given is None else {"OPENBLAS_NUM_THREADS": given}
    done = subprocess.run(
        [sys.executable, "-c", ASKED], capture_output=True, text=True, timeout=100, check=True, env=env
    )
    assert done.stdout == "1\n"
