"""A small real site for tests: what each page answers, and what it was asked."""

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
class Asked:
    """One request."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Site:
    """What runs, and what it was asked."""

    port: int
    requests: list[Asked] = field(default_factory=list[Asked])
    failures: int = 0
    """So many requests are answered with 503 before one succeeds."""
    location: str = "/text"
    """Where `/moved` leads."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    site: Site

    def _answer(self) -> None:
        site = self.site
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        site.requests.append(Asked(self.command, self.path, dict(self.headers.items()), body))
        status, kind, said, extra = 200, "text/plain; charset=utf-8", b"plain text", dict[str, str]()
        match self.path.partition("?")[0]:
            case "/page":
                kind, said = "text/html; charset=utf-8", PAGE.encode()
            case "/json":
                kind, said = "application/json", json.dumps({"a": [1, None]}).encode()
            case "/latin":
                kind, said = "text/plain; charset=iso-8859-1", "grün".encode("latin-1")
            case "/moved":
                status, extra = 302, {"Location": site.location}
            case "/kept":
                status, extra = 307, {"Location": site.location}
            case "/loop":
                status, extra = 302, {"Location": "/loop"}
            case "/missing":
                status, said = 404, b"nothing here"
            case "/echo":
                said = json.dumps(
                    {"method": self.command, "body": body.decode(), **dict(self.headers.items())}
                ).encode()
            case "/bomb":
                said, extra = gzip.compress(bytes(50_000_000)), {"Content-Encoding": "gzip"}
            case "/zipped":
                said, extra = gzip.compress(b"zipped text"), {"Content-Encoding": "gzip"}
            case "/broken":
                said, extra = b"not gzip", {"Content-Encoding": "gzip"}
            case "/odd":
                said, extra = b"x", {"Content-Encoding": "br"}
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
                kind, said = "application/json", json.dumps({"results": results}).encode()
            case _:
                pass
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(said)), **extra}.items():
            self.send_header(name, value)
        self.end_headers()
        with suppress(OSError):  # whoever asked has heard enough
            self.wfile.write(said)

    do_GET = do_POST = _answer  # noqa: N815 - as the library calls them

    def log_message(self, format: str, *args: object) -> None:
        pass


site_event = threading.Event()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        pass


@contextmanager
def site() -> Generator[Site]:
    """A site on a free port of this machine."""
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
