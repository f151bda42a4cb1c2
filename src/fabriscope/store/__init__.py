"""The run's folder: append-only, readable for years. `docs/run-folder.md` describes every file in it."""

from fabriscope.store.additions import SINCE_VERSION
from fabriscope.store.files import PLAN_NAME
from fabriscope.store.manifest import FORMAT, VERSION, describe, launches_of, manifest_of, scheduled
from fabriscope.store.places import refuse_odd_path, refuse_part_of_run
from fabriscope.store.run_folder import RunFolder, create, open_run, refuse_impossible

__all__ = [
    "FORMAT",
    "PLAN_NAME",
    "SINCE_VERSION",
    "VERSION",
    "RunFolder",
    "create",
    "describe",
    "launches_of",
    "manifest_of",
    "open_run",
    "refuse_impossible",
    "refuse_odd_path",
    "refuse_part_of_run",
    "scheduled",
]
