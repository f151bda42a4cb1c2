"""`fabric up` by a kernel's own Soft RoCE, in a guest. Skipped where no guests' kernel is built."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests import needs
from tests.lab.on_hosts import MakeLab

from fabriscope.lab.presets import PRESETS

TIMEOUT_S = 200.0
SCRIPT = """
export XDG_STATE_HOME=$(mktemp -d)
f() { "$python" -m fabriscope "$@"; }
up="fabric up soft-roce --interface eth0"
look() { echo "$1: $(ls /sys/class/infiniband)"; }
f $up; look up
f restore --list | cut -d' ' -f6-
f fabric down soft-roce --interface eth0; look down
f $up -- sh -c 'kill -KILL $PPID'; sleep 3; look killed
f restore
"$python" -m fabriscope $up -- sleep 600 & ours=$!
while [ -z "$(ls /sys/class/infiniband)" ]; do sleep 0.1; done
kill -STOP $ours; kill -KILL $(pgrep -P $ours) $ours; look left
f restore; look restored
"""


@pytest.fixture(scope="module", autouse=True)
def _kernel() -> None:
    needs.guests()


def test_the_device_goes_whatever_ends_us(make_lab: MakeLab) -> None:
    built = make_lab(("a",), ("a",), gige=PRESETS["gige"])
    argv = [*built.host("a").access, "sh", "-c", f"python={sys.executable}\n{SCRIPT}"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    assert done.stdout.splitlines() == [
        "rxe_eth0 is over eth0",
        "up: rxe_eth0",
        "the RDMA device rxe_eth0 on localhost: absent -> there, meant to stay",
        "rxe_eth0 is removed",
        "down: ",
        "killed: ",
        "the RDMA device rxe_eth0 on localhost: is absent already",
        "left: rxe_eth0",
        "the RDMA device rxe_eth0 on localhost: is absent again, was there",
        "restored: ",
    ], done.stderr
