"""Two processes of one host that tell each other most by something that no interface counts; of the transport corpus.

python3 -m campaigns.corpus.memory CARRIER BYTES TCP_BYTES [TCP_ADDRESS]   the parent sends, a child takes; TCP beside
"""

from __future__ import annotations

import ctypes
import mmap
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from campaigns.corpus.tcp import CHUNK_BYTES, send, take

LIBC = ctypes.CDLL(None, use_errno=True)
MEMORY_BYTES = 1 << 20
SHARED, DISK = "/dev/shm", tempfile.gettempdir()  # noqa: S108 - of a lab's host
PORT = 7790
IPC_CREAT, IPC_RMID, O_CREAT_RDWR = 0o1000, 0, os.O_CREAT | os.O_RDWR

Pieces = Iterator[int]


def sizes(byte_count: int, limit: int = CHUNK_BYTES) -> Pieces:
    """Yield the sizes of the pieces in which bytes are told."""
    for begin in range(0, byte_count, limit):
        yield min(limit, byte_count - begin)


def in_turns(memory: memoryview | mmap.mmap, other: memoryview | mmap.mmap, byte_count: int) -> None:
    """Tell bytes through memory that is mapped twice: the first says whose turn it is, in one store."""
    limit = MEMORY_BYTES - 4096
    memory[0] = 0
    child = os.fork()
    mine, turn = (memory, 0) if child else (other, 1)
    for length in sizes(byte_count, limit):
        while mine[0] != turn:
            time.sleep(0)
        if child:
            mine[4096 : 4096 + length] = b"x" * length
        elif bytes(mine[4096 : 4096 + length])[-1:] != b"x":
            os._exit(1)
        mine[0] = 1 - turn
    ended(child)


def ended(child: int) -> None:
    """End the child, or wait for it."""
    if not child:
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        raise SystemExit("the child failed")


def mapped(path: str) -> mmap.mmap:
    """Return a file's memory."""
    descriptor = os.open(path, os.O_RDWR)
    return mmap.mmap(descriptor, MEMORY_BYTES)


def made_file(folder: str) -> str:
    """Return a new file of the memory's size."""
    descriptor, path = tempfile.mkstemp(dir=folder, prefix="told")
    os.truncate(descriptor, MEMORY_BYTES)
    os.close(descriptor)
    return path


def by_file(byte_count: int) -> None:
    """Map one file of /dev/shm twice."""
    path = made_file(SHARED)
    in_turns(mapped(path), mapped(path), byte_count)
    Path(path).unlink()


def by_links(byte_count: int) -> None:
    """Map one file by two names."""
    path = made_file(SHARED)
    os.link(path, f"{path}.second")
    in_turns(mapped(path), mapped(f"{path}.second"), byte_count)
    Path(path).unlink()
    Path(f"{path}.second").unlink()


def by_deleted(byte_count: int) -> None:
    """Map a file that has no name any more."""
    path = made_file(SHARED)
    first, second = mapped(path), mapped(path)
    Path(path).unlink()
    in_turns(first, second, byte_count)


def by_odd_name(byte_count: int) -> None:
    """Map a file whose name looks like that of a library's own."""
    path = f"{SHARED}/pmix_dstor_gds_told"
    Path(made_file(SHARED)).rename(path)
    in_turns(mapped(path), mapped(path), byte_count)
    Path(path).unlink()


def by_anonymous(byte_count: int) -> None:
    """Map memory that is nobody's file."""
    memory = mmap.mmap(-1, MEMORY_BYTES)
    in_turns(memory, memory, byte_count)


def by_memfd(byte_count: int) -> None:
    """Map an inherited memfd twice."""
    descriptor = os.memfd_create("told")
    os.truncate(descriptor, MEMORY_BYTES)
    in_turns(mmap.mmap(descriptor, MEMORY_BYTES), mmap.mmap(descriptor, MEMORY_BYTES), byte_count)


def by_disk_map(byte_count: int) -> None:
    """Map a file on disk twice."""
    with tempfile.TemporaryDirectory(dir=DISK) as folder:
        path = made_file(folder)
        in_turns(mapped(path), mapped(path), byte_count)


def by_sysv(byte_count: int) -> None:
    """Attach a segment of System V twice."""
    LIBC.shmat.restype = ctypes.c_void_p
    segment = LIBC.shmget(0, MEMORY_BYTES, IPC_CREAT | 0o600)
    places = [LIBC.shmat(segment, None, 0) for _ in range(2)]
    LIBC.shmctl(segment, IPC_RMID, None)
    views = [memoryview((ctypes.c_char * MEMORY_BYTES).from_address(place)).cast("B") for place in places]
    in_turns(views[0], views[1], byte_count)


def by_descriptors(writing: int, reading: int, byte_count: int) -> None:
    """Write in the parent, read in the child."""
    child = os.fork()
    if child:
        os.close(reading)
        for length in sizes(byte_count):
            data = memoryview(b"x" * length)
            while data:
                data = data[os.write(writing, data) :]
        os.close(writing)
    else:
        os.close(writing)
        while os.read(reading, CHUNK_BYTES):
            pass
    ended(child)


def by_pipe(byte_count: int) -> None:
    """Use a pipe."""
    reading, writing = os.pipe()
    by_descriptors(writing, reading, byte_count)


def by_fifo(byte_count: int) -> None:
    """Use a pipe that has a name."""
    path = f"{SHARED}/fifo"
    os.mkfifo(path)
    reading = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    writing = os.open(path, os.O_WRONLY)
    os.set_blocking(reading, True)
    by_descriptors(writing, reading, byte_count)
    Path(path).unlink()


def by_unix(kind: int) -> Callable[[int], None]:
    """Return the use of a pair of Unix sockets."""

    def work(byte_count: int) -> None:
        ours, its = socket.socketpair(socket.AF_UNIX, kind)
        child = os.fork()
        for length in sizes(byte_count, 32_768):
            if child:
                ours.sendall(b"x" * length)
                continue
            left = length
            while left > 0:
                left -= len(its.recv(left))
        ended(child)

    return work


def by_process_vm(byte_count: int) -> None:
    """Let the child read the parent's own memory."""
    source = ctypes.create_string_buffer(b"x" * MEMORY_BYTES, MEMORY_BYTES)
    child = os.fork()
    if not child:
        target = ctypes.create_string_buffer(MEMORY_BYTES)
        for length in sizes(byte_count, MEMORY_BYTES):
            local = (ctypes.c_size_t * 2)(ctypes.addressof(target), length)
            remote = (ctypes.c_size_t * 2)(ctypes.addressof(source), length)
            if LIBC.process_vm_readv(os.getppid(), local, 1, remote, 1, 0) != length:
                os._exit(1)
    ended(child)


def by_queue(byte_count: int) -> None:
    """Use a queue of messages of POSIX."""
    name = b"/told"
    queue = LIBC.mq_open(name, O_CREAT_RDWR, 0o600, None)
    if queue < 0:
        raise OSError(ctypes.get_errno(), "mq_open")
    child = os.fork()
    buffer = ctypes.create_string_buffer(8192)
    for length in sizes(byte_count, 8192):
        if child:
            LIBC.mq_send(queue, buffer, length, 0)
        else:
            LIBC.mq_receive(queue, buffer, 8192, None)
    ended(child)
    LIBC.mq_unlink(name)


def by_written_file(folder: str) -> Callable[[int], None]:
    """Return the use of a file that is written, then read."""

    def work(byte_count: int) -> None:
        with tempfile.TemporaryDirectory(dir=folder) as own:
            path = Path(own) / "told"
            path.write_bytes(b"x" * byte_count)
            reader = f"import sys; assert len(open({str(path)!r}, 'rb').read()) == {byte_count}"
            subprocess.run([sys.executable, "-c", reader], timeout=20, check=True)

    return work


CARRIERS: dict[str, Callable[[int], None]] = {
    "file": by_file, "links": by_links, "deleted": by_deleted, "odd-name": by_odd_name, "anonymous": by_anonymous,
    "memfd": by_memfd, "disk-map": by_disk_map, "sysv": by_sysv, "pipe": by_pipe, "fifo": by_fifo,
    "unix-stream": by_unix(socket.SOCK_STREAM), "unix-datagram": by_unix(socket.SOCK_DGRAM),
    "unix-packet": by_unix(socket.SOCK_SEQPACKET), "process-vm": by_process_vm, "queue": by_queue,
    "tmpfs-file": by_written_file(SHARED), "disk-file": by_written_file(DISK),
}  # fmt: skip


def beside(byte_count: int, address: str) -> None:
    """Tell a child bytes by TCP as well."""
    listener = socket.create_server((address, PORT))
    child = os.fork()
    if not child:
        take(listener.accept()[0])
        os._exit(0)
    listener.close()
    send(PORT, address, byte_count, False)
    ended(child)


def main() -> None:
    carrier, byte_count, tcp_bytes, *address = sys.argv[1:]
    threads = []
    if int(tcp_bytes):
        threads = [threading.Thread(target=beside, args=(int(tcp_bytes), address[0] if address else "127.0.0.1"))]
    CARRIERS[carrier](int(byte_count))
    for thread in threads:
        thread.start()
        thread.join()
    time.sleep(0.1)


if __name__ == "__main__":
    main()
