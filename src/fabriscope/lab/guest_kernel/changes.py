"""What must be different in the source, as replacements that are checked for having been made."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fabriscope.model.errors import LabError


@dataclass(frozen=True)
class Change:
    """One replacement in one file; a source that has it already is left as it is."""

    file: str
    old: str
    """Must stand there exactly once."""
    new: str
    why: str


CHANGES = (
    Change(
        "arch/x86/um/user-offsets.c",
        "DEFINE_LONGS(HOST_FP_SIZE, 2696);",
        "DEFINE_LONGS(HOST_FP_SIZE, 16384);",
        "processors with AMX save 11,008 bytes of floating-point state; with less, process 1 dies at once",
    ),
    Change(
        "arch/um/Kconfig",
        "config HZ\n\tint\n\tdefault 100\n",
        "config HZ\n\tint\n\tdefault 1000\n",
        "waits that end at a tick end within a millisecond, not ten",
    ),
    Change(
        "arch/um/os-Linux/signal.c",
        "\nstatic unsigned int signals_pending;\n",
        "\nunsigned int signals_pending;\n",
        "the change after this one looks at it",
    ),
    Change(
        "arch/um/os-Linux/time.c",
        "\tsigset_t set, old;\n"
        "\n"
        "\t/* block SIGALRM while we analyze the timer state */\n"
        "\tsigemptyset(&set);\n"
        "\tsigaddset(&set, SIGALRM);\n"
        "\tsigprocmask(SIG_BLOCK, &set, &old);\n"
        "\n"
        "\t/* check the timer, and if it'll fire then wait for it */\n"
        "\ttimer_gettime(event_high_res_timer, &its);\n"
        "\tif (its.it_value.tv_sec || its.it_value.tv_nsec)\n",
        "\textern unsigned int signals_pending;\n"
        "\tsigset_t set, old;\n"
        "\n"
        "\t/* block SIGALRM and SIGIO while we analyze the state */\n"
        "\tsigemptyset(&set);\n"
        "\tsigaddset(&set, SIGALRM);\n"
        "\tsigaddset(&set, SIGIO);\n"
        "\tsigprocmask(SIG_BLOCK, &set, &old);\n"
        "\n"
        "\t/* check the timer, and if it'll fire then wait for it, unless an interrupt has come meanwhile */\n"
        "\ttimer_gettime(event_high_res_timer, &its);\n"
        "\tif (!signals_pending && (its.it_value.tv_sec || its.it_value.tv_nsec))\n",
        "a frame that came when the processor was about to sleep lay there until a timer ran out or another came",
    ),
    Change(
        "arch/um/os-Linux/signal.c",
        "\tunsigned long pending = 1UL << sig;\n\n\tdo {\n",
        "\tunsigned long pending = 1UL << sig;\n\tint saved_errno = errno;\n\n\tdo {\n",
        "the change after this one puts it back",
    ),
    Change(
        "arch/um/os-Linux/signal.c",
        "\t\t\tpending = from_irq_stack(nested);\n\t} while (pending);\n}\n",
        "\t\t\tpending = from_irq_stack(nested);\n\t} while (pending);\n\terrno = saved_errno;\n}\n",
        "a frame that came while the number of a card's socket was read left its errno there: no boot",
    ),
)


def apply(source: Path, changes: tuple[Change, ...] = CHANGES) -> None:
    """Make every change in a source tree; raises LabError for one that does not fit, before the kernel is built."""
    for change in changes:
        path = source / change.file
        try:
            text = path.read_text()
        except OSError as error:
            raise LabError(
                f"{change.file} cannot be read, so this is no source of Linux that we know: {error.strerror}",
                where=str(source),
                fix="take Debian's linux-source-6.1",
            ) from error
        if change.new in text and change.old not in text:
            continue
        if text.count(change.old) != 1:
            raise LabError(
                f"a change that guests need does not fit {change.file} ({change.why})",
                where=str(source),
                fix="take Debian's linux-source-6.1",
            )
        path.write_text(text.replace(change.old, change.new))
