"""A TCP forwarder that counts what passes."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit


@contextmanager
def counted(url: str) -> Iterator[tuple[str, list[int]]]:
    """A URL that leads to `url`, and the bytes that passed there and back so far."""
    target = urlsplit(url)
    passed = [0, 0]
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=_accept, args=(server, (target.hostname, target.port), passed), daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}", passed


def _accept(server: socket.socket, target: tuple[str | None, int | None], passed: list[int]) -> None:
    while True:
        try:
            client, _ = server.accept()
        except OSError:
            return  # the measurement is over
        upstream = socket.create_connection(target)
        for direction, (source, sink) in enumerate(((client, upstream), (upstream, client))):
            threading.Thread(target=_pump, args=(source, sink, passed, direction), daemon=True).start()


def _pump(source: socket.socket, sink: socket.socket, passed: list[int], direction: int) -> None:
    try:
        while data := source.recv(65_536):
            passed[direction] += len(data)
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        return  # the other side hung up
