"""An HTTP server on this machine whose inbox fills by the clock and is emptied by polling."""

import json
import time
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any


class Inbox:
    """Items that arrive at given seconds from the start; each is handed out once."""

    def __init__(self, times: list[float]) -> None:
        self.times = times
        self.taken = 0
        self.lock = Lock()
        self.began = time.monotonic()

    def take(self) -> list[float]:
        """Return how long each item that is there has waited, in seconds."""
        with self.lock:
            now = time.monotonic() - self.began
            arrived = bisect_right(self.times, now)
            ages = [now - when for when in self.times[self.taken : arrived]]
            self.taken = arrived
        return ages


@contextmanager
def serve(inbox: Inbox) -> Iterator[int]:
    """Serve the inbox on a free port of the loopback device, and give the port."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = 65_536  # head and body in one packet: no waiting for a delayed ACK

        def do_GET(self) -> None:
            body = json.dumps(inbox.take()).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing: a request is no event here."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def fetch(connection: HTTPConnection) -> list[float]:
    """Poll once: the ages of the items found."""
    connection.request("GET", "/")
    ages: list[float] = json.loads(connection.getresponse().read())
    return ages
