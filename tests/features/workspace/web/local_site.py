"""A small local web site that records its requests."""

import gzip
import json
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PAGE = """<html><head><title>A page</title><style>x{}</style></head><body><nav>menu</nav>
<h1>Welcome</h1><p>Read <a href="/more">more</a>.</p><script>evil()</script></body></html>"""


@dataclass
class RecordedRequest:
    """One request."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Site:
    """A running site and the requests that it received."""

    port: int
    requests: list[RecordedRequest] = field(default_factory=list[RecordedRequest])
    failures: int = 0
    """Number of requests to `/flaky` that get status 503."""
    location: str = "/text"
    """Target of the redirects `/moved` and `/temporary`."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    site: Site

    def _respond(self) -> None:
        site = self.site
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        site.requests.append(RecordedRequest(self.command, self.path, dict(self.headers.items()), body))
        status, kind, content, extra = 200, "text/plain; charset=utf-8", b"plain text", dict[str, str]()
        match self.path.partition("?")[0]:
            case "/page":
                kind, content = "text/html; charset=utf-8", PAGE.encode()
            case "/json":
                kind, content = "application/json", json.dumps({"a": [1, None]}).encode()
            case "/latin":
                kind, content = "text/plain; charset=iso-8859-1", "grün".encode("latin-1")
            case "/moved":
                status, extra = 302, {"Location": site.location}
            case "/temporary":
                status, extra = 307, {"Location": site.location}
            case "/loop":
                status, extra = 302, {"Location": "/loop"}
            case "/missing":
                status, content = 404, b"nothing here"
            case "/echo":
                content = json.dumps(
                    {"method": self.command, "body": body.decode(), **dict(self.headers.items())}
                ).encode()
            case "/bomb":
                content, extra = gzip.compress(bytes(50_000_000)), {"Content-Encoding": "gzip"}
            case "/zipped":
                content, extra = gzip.compress(b"zipped text"), {"Content-Encoding": "gzip"}
            case "/broken":
                content, extra = b"not gzip", {"Content-Encoding": "gzip"}
            case "/odd":
                content, extra = b"x", {"Content-Encoding": "br"}
            case "/hang":
                site_event.wait(30)
                return
            case "/flaky":
                if site.failures > 0:
                    site.failures -= 1
                    status = 503
            case "/search":
                results = [
                    {"title": "T", "url": "https://e.com", "text": "words", "score": 0.5},
                    {"url": "https://f.com"},
                ]
                kind, content = "application/json", json.dumps({"results": results}).encode()
            case _:
                pass
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(content)), **extra}.items():
            self.send_header(name, value)
        self.end_headers()
        with suppress(OSError):  # the client closed the connection
            self.wfile.write(content)

    do_GET = do_POST = _respond  # noqa: N815 - names of the standard library

    def log_message(self, format: str, *args: object) -> None:
        pass


site_event = threading.Event()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        pass


@contextmanager
def site() -> Generator[Site]:
    """Run a site on a free local port."""
    site_event.clear()

    class Handler(_Handler):
        pass

    server = _Server(("127.0.0.1", 0), Handler)
    Handler.site = Site(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield Handler.site
    finally:
        site_event.set()
        server.shutdown()
        thread.join()
        server.server_close()
