"""Open MPI 4: ORTE starts the ranks. One-sided communication over TCP is right with `osc pt2pt` only."""

from __future__ import annotations

from fabriscope.launch._openmpi import OpenMpi

LAUNCHER = OpenMpi(
    name="openmpi4",
    remote_shell="plm_rsh_agent",
    out_of_band_option="--mca",
    shared_memory="vader",
    socket="socket",
    one_sided={"tcp": "pt2pt"},
)
