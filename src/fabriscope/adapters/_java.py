"""What launches of Java services share: the words that start a Java program of ours, in a folder that goes with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fabriscope.adapters.base import AdapterContext
from fabriscope.model.errors import LaunchError

IN_MEMORY, ON_DISK = "memory", "disk"
# The folder goes when the program ends, however it ends: asked to end (SIGTERM), this shell waits for it.
_IN_A_FOLDER = """
case $1 in memory) root=/dev/shm ;; *) root=${TMPDIR:-/tmp} ;; esac
java=$2; shift 2
command -v "$java" >/dev/null || { echo "fabriscope: there is no $java on this host" >&2; exit 127; }
folder=$(mktemp -d "$root/fabriscope-XXXXXXXX") || exit 1
trap : TERM
FABRISCOPE_FOLDER=$folder "$java" "-Djava.io.tmpdir=$folder" "$@"
status=$?
rm -rf -- "$folder"
exit "$status"
"""
_OPTIONS = ("-XX:-UsePerfData", "-Djava.net.preferIPv4Stack=true")
"""The first keeps Java from writing a file of each process's statistics to /tmp."""
_FRUGAL = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
"""Where hosts share one machine: less memory, and less of the processors for compiling."""


def java(
    context: AdapterContext,
    host: str,
    app: str,
    heap_bytes: int,
    words: Sequence[str],
    settings: Mapping[str, str],
    data: str = ON_DISK,
    options: Sequence[str] = (),
) -> tuple[str, ...]:
    """Return the argv of one of our Java programs with an application's classes; raises LaunchError or ToolMissing.

    `words` are its class and what the class is told, before `settings`. Its folder, of which it is told by the
    environment, is in memory (`IN_MEMORY`) or in the launch's temporary folder. `options` are further ones of Java.
    """
    program, classes = context.program("java"), context.programs.get(f"{app} classes")
    if classes is None:
        raise LaunchError(f"the classes of {app} are not known", fix=f"`fabriscope apps add {app}` fetches them")
    usual = _OPTIONS if context.hosts[host].is_remote else (*_FRUGAL, *_OPTIONS)
    told = [f"{name}={value}" for name, value in settings.items()]
    shell = ("/bin/sh", "-c", _IN_A_FOLDER, "sh", data, program)
    return (*shell, f"-Xmx{heap_bytes >> 20}m", *usual, *options, "-cp", classes, *words, *told)
