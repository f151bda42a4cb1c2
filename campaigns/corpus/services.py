"""Services of the transport corpus that were there before a job, and carry its bytes or start a part of it.

python3 -m campaigns.corpus.services relay WHERE PORT ADDRESS     what comes to a port, or a path, goes on by TCP
python3 -m campaigns.corpus.services sends WHERE PORT ADDRESS BYTES   sends, when it was asked to and nobody waits
python3 -m campaigns.corpus.services word PORT SECONDS                says that word here, and waits before it closes
python3 -m campaigns.corpus.services opener PATH PORT ADDRESS     opens connections, and hands them out
python3 -m campaigns.corpus.services sender PATH                  is handed connections, and sends over them
python3 -m campaigns.corpus.services timer FILE SECONDS WORD...   starts a program some seconds after a file is there
python3 -m campaigns.corpus.services ask-relay|ask-opener|ask-sender PATH PORT BYTES ADDRESS ...  a job that uses them
python3 -m campaigns.corpus.services at-once PORT BYTES ADDRESS ...      20 connections, by asyncio
python3 -m campaigns.corpus.services begin FILE PORT BYTES ADDRESS ...   leaves the file for the timer, and sends
"""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

from campaigns.corpus.tcp import CHUNK_BYTES, push, send


def listen(where: str) -> socket.socket:
    """Return a listening socket: of a port, or of a path."""
    if "/" in where:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(where)
    else:
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("0.0.0.0", int(where)))  # noqa: S104 - of a lab's host
    listener.listen(64)
    print("listening", flush=True)
    return listener


def relay(where: str, port: int, address: str) -> None:
    """Send on what comes."""
    listener = listen(where)
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=relay_one, args=(connection, port, address), daemon=True).start()


def relay_one(connection: socket.socket, port: int, address: str) -> None:
    """Send on what one connection brings, and tell its end when the other end has it all."""
    with connection, socket.create_connection((address, port)) as onward:
        while data := connection.recv(CHUNK_BYTES):
            onward.sendall(data)
        onward.shutdown(socket.SHUT_WR)
        onward.recv(1)


def sends(where: str, port: int, address: str, byte_count: int) -> None:
    """Send a number of bytes for every word that comes, once the connection that brought it is closed."""
    listener = listen(where)
    while True:
        connection, _ = listener.accept()
        with connection:
            connection.recv(1)
        send(port, address, byte_count, False)


def word(port: int, seconds: float) -> None:
    """Ask the service at a port of this host to send."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(b"x")
        time.sleep(seconds)


def opener(where: str, port: int, address: str) -> None:
    """Hand out connections."""
    listener = listen(where)
    while True:
        connection, _ = listener.accept()
        with connection, socket.create_connection((address, port)) as onward:
            socket.send_fds(connection, [b"x"], [onward.fileno()])


def sender(where: str) -> None:
    """Send as many bytes over a connection that is handed over as the message says."""
    listener = listen(where)
    while True:
        connection, _ = listener.accept()
        with connection:
            text, descriptors, _, _ = socket.recv_fds(connection, 64, 1)
            with socket.socket(fileno=descriptors[0]) as handed:
                push(handed, int(text))
            connection.sendall(b"x")


def timer(file: str, seconds: float, words: list[str]) -> None:
    """Start a program some seconds after a file is there."""
    while not Path(file).exists():
        time.sleep(0.02)
    time.sleep(seconds)
    subprocess.run(words, env={"PATH": os.environ["PATH"]}, timeout=20, check=False)
    Path(f"{file}.done").touch()


def asked(what: str, path: str, port: int, byte_count: int, address: str) -> None:
    """Send by a service."""
    with socket.socket(socket.AF_UNIX) as service:
        service.connect(path)
        if what == "ask-relay":
            push(service, byte_count)
        elif what == "ask-opener":
            _, descriptors, _, _ = socket.recv_fds(service, 1, 1)
            with socket.socket(fileno=descriptors[0]) as handed:
                push(handed, byte_count)
        else:
            with socket.create_connection((address, port)) as connection:
                socket.send_fds(service, [str(byte_count).encode()], [connection.fileno()])
            service.recv(1)


async def at_once(port: int, pairs: list[tuple[str, str]]) -> None:
    """Send over 20 connections at once, of one loop of events."""

    async def one(byte_count: int, address: str) -> None:
        reader, writer = await asyncio.open_connection(address, port)
        writer.write(b"S" * byte_count)
        await writer.drain()
        writer.write_eof()
        await reader.read()
        writer.close()

    await asyncio.gather(*(one(int(count) // 20, address) for count, address in pairs for _ in range(20)))


def begin(path: str, port: int, pairs: list[tuple[str, str]]) -> None:
    """Leave the file that a timer waits for, then send: the server comes late."""
    Path(path).touch()
    limit_s = time.monotonic() + 15
    for count, address in pairs:
        while True:
            try:
                send(port, address, int(count), False)
                break
            except ConnectionRefusedError:
                if time.monotonic() > limit_s:
                    raise
                time.sleep(0.05)


def main() -> None:
    what, *words = sys.argv[1:]
    if what == "relay":
        relay(words[0], int(words[1]), words[2])
    elif what == "sends":
        sends(words[0], int(words[1]), words[2], int(words[3]))
    elif what == "word":
        word(int(words[0]), float(words[1]))
    elif what == "opener":
        opener(words[0], int(words[1]), words[2])
    elif what == "sender":
        sender(words[0])
    elif what == "timer":
        timer(words[0], float(words[1]), words[2:])
    elif what == "at-once":
        asyncio.run(at_once(int(words[0]), list(zip(words[1::2], words[2::2], strict=True))))
    else:
        path, port = words[0], int(words[1])
        pairs = list(zip(words[2::2], words[3::2], strict=True))
        if what == "begin":
            begin(path, port, pairs)
            return
        asked(what, path, port, int(pairs[0][0]), pairs[0][1])
        for count, address in pairs[1:]:
            send(port, address, int(count), False)


if __name__ == "__main__":
    main()
