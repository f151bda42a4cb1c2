"""A plain TCP program without any library, of the transport corpus: how many bytes went over which address is its word.

python3 tcp.py serve PORT [ADDRESS]              takes connections one after the other, until it is ended
python3 tcp.py send PORT BYTES ADDRESS [ADDRESS=SHARE ...] [--echo] [--wait S] [--connections N] [--rounds N]
                             [--pause S] [--pace BYTES_A_SECOND] [--at-once]
"""

import argparse
import socket
import threading
import time

CHUNK_BYTES = 1 << 16


def serve(port: int, address: str) -> None:
    """Take connections."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((address, port))
    listener.listen(1024)
    print("listening", flush=True)
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=take, args=(connection,), daemon=True).start()


def take(connection: socket.socket) -> None:
    """Read to the end; the first byte says whether everything is sent back."""
    is_echo = connection.recv(1) == b"E"
    while True:
        data = connection.recv(CHUNK_BYTES)
        if not data:
            break
        if is_echo:
            connection.sendall(data)
    connection.close()


def send(port: int, address: str, byte_count: int, is_echo: bool, pace: float = 0) -> None:
    """Send a number of bytes over one connection."""
    with socket.create_connection((address, port)) as connection:
        push(connection, byte_count, is_echo, pace)


def push(connection: socket.socket, byte_count: int, is_echo: bool = False, pace: float = 0) -> None:
    """Send a number of bytes over a connection, and wait until the other end has them all."""
    begun_s = time.monotonic()
    if byte_count > 0:
        connection.sendall(b"E" if is_echo else b"S")
    left = byte_count - 1
    while left > 0:
        piece = b"x" * min(left, CHUNK_BYTES)
        connection.sendall(piece)
        left -= len(piece)
        got = len(piece) if is_echo else 0
        while got > 0:
            got -= len(connection.recv(got))
        if pace:
            time.sleep(max(0.0, begun_s + (byte_count - left) / pace - time.monotonic()))
    connection.shutdown(socket.SHUT_WR)
    connection.recv(1)


def send_all(given: argparse.Namespace) -> None:
    """Send what the words ask for: every address its share, by one or more connections, in turn or at once."""
    total, *addresses = given.rest
    work = []
    for word in addresses:
        address, _, share = word.partition("=")
        part = int(float(share or 1) * int(total) / given.connections)
        work += [(given.port, address, part, given.echo, given.pace)] * given.connections
    for number in range(given.rounds):
        time.sleep(given.pause if number else 0)
        if not given.at_once:
            for one in work:
                send(*one)
            continue
        threads = [threading.Thread(target=send, args=one) for one in work]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["serve", "send"])
    parser.add_argument("port", type=int)
    parser.add_argument("rest", nargs="*")
    parser.add_argument("--echo", action="store_true")
    parser.add_argument("--wait", type=float, default=0)
    parser.add_argument("--connections", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--pause", type=float, default=0)
    parser.add_argument("--pace", type=float, default=0)
    parser.add_argument("--at-once", action="store_true")
    given = parser.parse_args()
    if given.what == "serve":
        serve(given.port, given.rest[0] if given.rest else "0.0.0.0")  # noqa: S104 - of a lab's host
    time.sleep(given.wait)
    send_all(given)


if __name__ == "__main__":
    main()
