"""What `restore` removes beside changes: labs whose owner was killed, and the temporary folders of killed launches."""

from __future__ import annotations

from fabriscope.cli import _streams


def remove(*, is_list: bool, is_dry: bool) -> None:
    """Say what was left of processes that were killed, and remove it unless only a look is wanted.

    On standard error: the answer of the command is what it did with the journal.
    """
    from fabriscope.model.errors import FabriscopeError

    try:
        labs = _labs(is_list or is_dry)
    except FabriscopeError as error:
        labs = [error.sentence()]
    verb = "left behind" if is_list else "would be removed" if is_dry else "removed"
    for line in (*labs, *(f"{verb}: {folder}, the folder of a launch that was killed" for folder in _folders(verb))):
        _streams.say(line, is_told=True)


def _labs(is_look: bool) -> list[str]:
    from fabriscope import lab

    said: list[str] = []
    if is_look:
        names = [one.name for one in lab.recorded(said.append) if one.is_left_over]
        return [
            *said,
            *(f"lab {name} was left by a process that died; `fabriscope restore` removes it" for name in names),
        ]
    return [*(f"removed what was left of lab {name}" for name in lab.remove_left_overs(said.append)), *said]


def _folders(verb: str) -> list[str]:
    from fabriscope.launch import removing

    return removing.abandoned_folders(is_dry=verb != "removed")
