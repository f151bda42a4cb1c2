"""fabriscope evaluates cluster interconnects: which fabric, transport, MPI library or setting is better, and for what."""

__version__ = "0.1.0"
