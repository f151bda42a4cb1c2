"""The page in a real browser: it draws, asks for nothing, and complains about nothing."""

from __future__ import annotations

import re
import socket
import subprocess
import threading
from pathlib import Path

from tests import needs
from tests.analysis.made_up import Shape, write_run

from fabriscope.registry import discover
from fabriscope.reports.base import Options

SHAPE = Shape(sizes=(1, 64, 4096, 1 << 20), launch_count=3, samples_per_burst=3, stacks=("mpich-5.0.2",))
BROWSERS_OWN = (b"accounts.google.com", b"www.google.com", b"clients2.google.com", b"redirector.gvt1.com",
                b"update.googleapis.com", b"optimizationguide-pa.googleapis.com")  # fmt: skip
"""Whom the browser itself calls, whatever page it shows."""


class Proxy:
    """A proxy that serves nothing and remembers who asked."""

    def __init__(self) -> None:
        self.asked: list[bytes] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.tcp_port = self._listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(5)
                self.asked.append(connection.recv(200))

    def close(self) -> None:
        self._listener.close()


def test_the_page_draws_and_asks_for_nothing(tmp_path: Path) -> None:
    chromium = needs.program("chromium")
    data = write_run(tmp_path / "run", SHAPE).read()
    (page,) = discover("reports", "REPORT").get("html").render(data, tmp_path, Options())
    figure_count = page.read_text().count("data-figure=")
    proxy = Proxy()
    argv = [
        chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run",
        "--disable-component-update", "--disable-sync", "--disable-default-apps", "--disable-extensions",
        "--enable-logging=stderr", "--v=0", f"--user-data-dir={tmp_path / 'profile'}", "--window-size=1200,3000",
        f"--proxy-server=http://127.0.0.1:{proxy.tcp_port}", "--proxy-bypass-list=<-loopback>",
        "--virtual-time-budget=30000", "--dump-dom", page.as_uri(),
    ]  # fmt: skip
    try:
        browser = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False)
    finally:
        proxy.close()
    dom = browser.stdout
    assert figure_count > 10
    assert f'data-drawn="{figure_count}"' in dom
    assert len(re.findall(r'<svg[^>]*class="marks"', dom)) == figure_count
    # Only what the page says: the browser's own complaints (dbus, sandbox) carry no CONSOLE mark.
    console = [line for line in browser.stderr.splitlines() if "CONSOLE" in line]
    assert console == []
    assert [request for request in proxy.asked if not any(name in request for name in BROWSERS_OWN)] == []
