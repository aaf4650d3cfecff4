"""A small HTTP server on loopback for services that are stood in for."""

import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class _QuietServer(ThreadingHTTPServer):
    """Says nothing of a client that is gone, which is killed on purpose."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def served(handle: Callable[[BaseHTTPRequestHandler], None], release: Callable[[], None]) -> Generator[str]:
    """The address of what handles requests, until the end, when whoever still waits for an answer is released."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            handle(self)

        def do_POST(self) -> None:
            handle(self)

        def do_DELETE(self) -> None:
            handle(self)

        def log_message(self, format: str, *args: object) -> None:
            return None

    server = _QuietServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        release()
        server.shutdown()
        server.server_close()
        thread.join()
