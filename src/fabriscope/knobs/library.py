"""How values of the settings of MPI libraries are read; the table is in model/mpi_settings.py."""

from __future__ import annotations

from fabriscope.knobs.knob import Reads, Setting, number, size
from fabriscope.model.mpi_settings import MpiSetting


def reader(setting: MpiSetting) -> Reads:
    """Return the reading of a setting's values: what stands in its variables, or ValueError."""
    read_number = (size if setting.kind == "size" else number)(setting.least, setting.most)

    def read(value: Setting) -> str:
        if value in setting.words and isinstance(value, str):
            return value
        if setting.kind == "word":
            raise ValueError(f"{str(value)!r} is none of {', '.join(setting.words)}")
        return read_number(value)

    return read
