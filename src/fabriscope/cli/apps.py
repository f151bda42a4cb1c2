"""`fabriscope apps`: Hadoop and HBase for plans, without root."""

from __future__ import annotations

import json

import click

from fabriscope.cli import _loudness, _usage


@click.group(cls=_usage.Group, name="apps")
def apps() -> None:
    """Fetch the applications whose services plans can start: Hadoop, and HBase with YCSB.

    \b
    Example:  fabriscope apps add hadoop hbase
    """


@apps.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
def list_apps(as_json: bool) -> None:
    """List the applications that can be added, and which are there.

    \b
    Example:  fabriscope apps list
    """
    from fabriscope.hosts import java_apps

    there = {(app.name, app.version): app for app in java_apps.added()}
    wanted = dict.fromkeys([*java_apps.known().items(), *there])
    if as_json:
        rows = [
            {"name": name, "version": version, "folder": str(app.folder), "size_bytes": app.size_bytes}
            if (app := there.get((name, version)))
            else {"name": name, "version": version, "folder": None, "size_bytes": None}
            for name, version in wanted
        ]
        click.echo(json.dumps(rows, indent=2))
        return
    for name, version in wanted:
        app = there.get((name, version))
        where = f"{app.size_bytes / 1e6:.0f} MB in {app.folder}" if app else f"`fabriscope apps add {name}` fetches it"
        click.echo(f"{name:8} {version:16} {where}")


@apps.command(name="add")
@click.argument("names", metavar="hadoop|hbase...", nargs=-1, required=True)
def add(names: tuple[str, ...]) -> None:
    """Fetch applications by Maven into the cache, and check every file's digest.

    \b
    Example:  fabriscope apps add hadoop hbase
    """
    from fabriscope.hosts import java_apps

    for name in names:
        if name not in java_apps.known():
            raise click.UsageError(f"there is no application {name!r} to add; choose {', '.join(java_apps.known())}")
    for name in names:
        with _loudness.status(f"fetching {name} (about 100 MB)"):
            app = java_apps.add(name)
        click.echo(f"{app.name} {app.version}: {app.size_bytes / 1e6:.0f} MB in {app.folder}")


@apps.command(name="remove")
@click.argument("name")
def remove(name: str) -> None:
    """Remove what `add` fetched.

    \b
    Example:  fabriscope apps remove hbase
    """
    from fabriscope.hosts import java_apps

    for folder in java_apps.remove(name):
        click.echo(f"removed {folder}")


COMMAND = apps
