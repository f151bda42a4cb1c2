"""The command `fabriscope`, and `python -m fabriscope`."""

import gc
import sys

from fabriscope.model import blas_threads, endings, search_paths

COLLECTED_AFTER = 20_000
"""New objects: looking for garbage after each 700, as usual, is a tenth of the time in which modules are loaded."""


def main() -> None:
    """Run the command line; nothing of other packages is loaded before it is known where they are."""
    endings.begin()
    gc.set_threshold(COLLECTED_AFTER)
    try:
        search_paths.leave_current_folder()
        blas_threads.none_from_now_on()
        from fabriscope import cli

        cli.main()
    except KeyboardInterrupt:  # before a command had begun
        sys.exit(endings.interrupted())
    finally:
        endings.over()


if __name__ == "__main__":
    main()
