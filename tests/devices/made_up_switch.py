"""A switch that answers over ssh on loopback, as far as a session needs one: prompts, echo, a pager's switch."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any


class Switch:
    """What it says to each command, and all that it was told."""

    def __init__(self, answers: Mapping[str, str], password: str) -> None:
        self.answers, self.password = answers, password
        self.told: list[str] = []
        self.port = 0
        self.key = ""


@contextmanager
def answering(switch: Switch) -> Iterator[Switch]:
    """Let it answer connections, one after the other, until the block ends."""
    import paramiko

    host_key = paramiko.RSAKey.generate(2048)
    switch.key = f"{host_key.get_name()} {host_key.get_base64()}"
    with socket.create_server(("127.0.0.1", 0)) as listener:
        switch.port = listener.getsockname()[1]
        listener.settimeout(0.2)
        is_over = threading.Event()

        def serve() -> None:
            while not is_over.is_set():
                with suppress(OSError, EOFError, paramiko.SSHException):
                    peer, _ = listener.accept()
                    transport = paramiko.Transport(peer)
                    transport.add_server_key(host_key)
                    transport.start_server(server=server_of(switch))

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield switch
        finally:
            is_over.set()
            thread.join(10)


def server_of(switch: Switch) -> Any:
    """Return what tells paramiko who may log in and what a shell is."""
    import paramiko

    def password(_server: Any, username: str, password: str) -> int:
        is_right = (username, password) == ("admin", switch.password)
        return int(paramiko.AUTH_SUCCESSFUL if is_right else paramiko.AUTH_FAILED)

    def shell(_server: Any, channel: Any) -> bool:
        threading.Thread(target=session, args=(switch, channel), daemon=True).start()
        return True

    answers = {
        "check_auth_password": password,
        "check_channel_request": lambda *_about: paramiko.OPEN_SUCCEEDED,
        "check_channel_pty_request": lambda *_about: True,
        "check_channel_shell_request": shell,
    }
    return type("Server", (paramiko.ServerInterface,), answers)()


def session(switch: Switch, channel: Any) -> None:
    """Answer what is typed, a line at a time."""
    channel.send("\r\nleaf1#")
    typed = ""
    while data := channel.recv(1024).decode():
        channel.send(data.replace("\r", "\n").replace("\n", "\r\n"))
        typed += data.replace("\r", "\n")
        while "\n" in typed:
            line, _, typed = typed.partition("\n")
            if line.strip():
                switch.told.append(line.strip())
            if line.strip() == "exit":
                channel.close()
                return
            channel.send(switch.answers.get(line.strip(), "").replace("\n", "\r\n") + "leaf1#")
