"""The command `fabriscope`, and `python -m fabriscope`."""

import sys

from fabriscope.model import endings, search_paths


def main() -> None:
    """Run the command line; nothing of other packages is loaded before it is known where they are."""
    endings.begin()
    try:
        search_paths.leave_current_folder()
        from fabriscope import cli

        cli.main()
    except KeyboardInterrupt:  # before a command had begun
        sys.exit(endings.interrupted())
    finally:
        endings.over()


if __name__ == "__main__":
    main()
