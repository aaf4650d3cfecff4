"""A small HTTP server on loopback for fake services."""

import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class _QuietServer(ThreadingHTTPServer):
    """Ignores connection errors, because tests disconnect clients on purpose."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def serve_http(handle: Callable[[BaseHTTPRequestHandler], None], release: Callable[[], None]) -> Generator[str]:
    """Serve requests and yield the base URL; at the end, call `release` to unblock waiting handlers."""

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
