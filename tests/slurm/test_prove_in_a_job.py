"""`fabriscope prove` inside a Slurm job: its nodes are watched, and reached by srun."""

from __future__ import annotations

import json

from tests.slurm.cluster import Cluster
from tests.two_ranks import RANK

PAYLOAD_BYTES = 5_000_000
STEP = 'exec python3 -I -c "$0" "$SLURM_PROCID" "$@"'


def test_the_nodes_of_the_job_are_watched(cluster: Cluster) -> None:
    address = cluster.address("n3", "eth0")
    words = [
        "--",
        "srun",
        "-n",
        "2",
        "-w",
        "n[2-3]",
        "--mpi",
        "none",
        "sh",
        "-c",
        STEP,
        RANK,
        address,
        str(PAYLOAD_BYTES),
    ]
    done = cluster.run(
        "salloc", "--nodelist", "n[2-3]", *cluster.own_words("prove", "--expect", "eth0", "--json", "-", *words)
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["hosts"] == ["n2", "n3"]
    sent = {one["host"]: one["sent_bytes"] for one in found["carriers"] if one["name"] == "eth0"}
    assert PAYLOAD_BYTES <= sent["n2"] < PAYLOAD_BYTES + 1000
