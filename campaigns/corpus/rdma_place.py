"""The guests in which the RDMA cases of the transport corpus run: one lab for all of them, since it takes long to boot.

eth0 has rxe0 (Soft RoCE), eth1 has siw1 (iWARP), and eth2 has rxe2 over a switch that loses 1 % of all frames.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace

from campaigns.corpus.nouns import GUESTS

from fabriscope import lab
from fabriscope.lab import Lab
from fabriscope.lab.presets import PRESETS
from fabriscope.model.lab import LabSpec

LOSS_SHARE = 0.01
GIGE = PRESETS["gige"]
FABRICS = {"roce": GIGE, "warp": GIGE, "lossy": replace(GIGE, preset="lossy", loss_share=LOSS_SHARE)}
SPEC = LabSpec(GUESTS, FABRICS, guests=GUESTS, rdma={"roce": "rxe", "warp": "siw", "lossy": "rxe"})


@contextlib.contextmanager
def standing() -> Iterator[Lab]:
    """Return the lab, which goes at the end."""
    built = lab.up(SPEC)
    try:
        yield built
    finally:
        built.down()
