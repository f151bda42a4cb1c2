"""What is set for launches, in words: on hosts, on the lab's switch, or of an MPI library."""

from __future__ import annotations

from collections.abc import Mapping

from fabriscope.model.mpi_settings import MPI_SETTINGS
from fabriscope.model.switch_settings import SWITCH_SETTINGS


def set_words(knobs: Mapping[str, str]) -> list[str]:
    """Return what is set for launches, and where: `mtu 600 (set on hosts)`."""
    places = dict.fromkeys(SWITCH_SETTINGS, "on the switch") | dict.fromkeys(MPI_SETTINGS, "for its launches")
    return [f"{name} {value} (set {places.get(name, 'on hosts')})" for name, value in knobs.items()]
