"""Fetching from a real local site. Numbers are rows of the feature table."""

import socket
import threading
from collections.abc import Generator
from typing import Any

import anyio
import pytest

from scrubjay.core.errors import Forbidden, InvalidRequest, ScrubjayError, TooLarge, Unavailable
from scrubjay.features.workspace.web.addresses import HostPolicy
from scrubjay.features.workspace.web.fetcher import Fetcher, WebRequest, check_headers, joined_headers, parse_json
from tests.features.workspace.web.local_site import Site, site


@pytest.fixture
def served() -> Generator[Site]:
    with site() as served:
        yield served


@pytest.fixture
def fetcher(served: Site) -> Fetcher:
    return make_fetcher(f"127.0.0.1:{served.port}")


def make_fetcher(*allowed: str, max_body_bytes: int = 100_000) -> Fetcher:
    async def no_wait(seconds: float) -> None:
        pass

    return Fetcher(HostPolicy(allowed), max_body_bytes, "Scrubjay/test", sleep=no_wait, random=lambda: 0.5)


async def get(fetcher: Fetcher, url: str, seconds: float = 10.0, **fields: Any) -> Any:
    return await fetcher.fetch(WebRequest(url, **fields), seconds=seconds)


async def test_30_a_response_is_returned_with_any_status(fetcher: Fetcher, served: Site) -> None:
    fetched = await get(fetcher, f"{served.url}/text?a=1&b=ü#part")
    assert (fetched.status, fetched.text, fetched.truncated) == (200, "plain text", False)
    assert served.requests[0].path == "/text?a=1&b=%C3%BC"
    assert served.requests[0].headers["User-Agent"] == "Scrubjay/test"
    missing = await get(fetcher, f"{served.url}/missing")
    assert (missing.status, missing.text) == (404, "nothing here")
    assert joined_headers(missing.headers)["content-length"] == "12"


async def test_30_text_is_decoded_with_its_declared_encoding(fetcher: Fetcher, served: Site) -> None:
    assert (await get(fetcher, f"{served.url}/latin")).text == "grün"
    assert (await get(fetcher, f"{served.url}/zipped")).text == "zipped text"


async def test_30_json_is_parsed_and_invalid_json_is_reported(fetcher: Fetcher, served: Site) -> None:
    assert parse_json(await get(fetcher, f"{served.url}/json")) == {"a": [1, None]}
    with pytest.raises(Unavailable, match=r"^Invalid JSON response$"):
        parse_json(await get(fetcher, f"{served.url}/text"))


async def test_30_a_posted_body_and_headers_arrive(fetcher: Fetcher, served: Site) -> None:
    response = await get(
        fetcher,
        f"{served.url}/echo",
        method="POST",
        content=b'{"x": 1}',
        headers=[("X-Mine", "yes"), ("user-agent", "me")],
    )
    received = parse_json(response)
    assert (received["method"], received["body"], received["Content-Type"]) == ("POST", '{"x": 1}', "application/json")
    assert (received["X-Mine"], received["user-agent"]) == ("yes", "me")


async def test_30_redirects_are_followed_and_counted(fetcher: Fetcher, served: Site) -> None:
    fetched = await get(fetcher, f"{served.url}/moved", method="POST", content=b"{}")
    assert (fetched.text, fetched.redirects, fetched.url) == ("plain text", 1, f"{served.url}/text")
    assert [request.method for request in served.requests] == ["POST", "GET"]
    served.location = "/echo"
    preserved = await get(fetcher, f"{served.url}/temporary", method="POST", content=b'{"k": 1}')
    assert parse_json(preserved)["body"] == '{"k": 1}'
    with pytest.raises(Unavailable, match="more than 10 redirects"):
        await get(fetcher, f"{served.url}/loop")


async def test_30_secret_headers_are_not_sent_to_another_origin(served: Site) -> None:
    with site() as other:
        served.location = f"{other.url}/echo"
        fetcher = make_fetcher(f"127.0.0.1:{served.port}", f"127.0.0.1:{other.port}")
        fetched = await get(
            fetcher,
            f"{served.url}/temporary",
            method="POST",
            content=b"{}",
            headers=[("Authorization", "Bearer s"), ("X-Api-Key", "s"), ("Cookie", "s"), ("Accept", "text/plain")],
        )
        received = parse_json(fetched)
        assert served.requests[0].headers["Authorization"] == "Bearer s"
        assert received["Accept"] == "text/plain"
        assert not {"Authorization", "X-Api-Key", "Cookie"} & set(received)


@pytest.mark.parametrize(
    "location",
    [
        "http://127.0.0.1:{port}/text",
        "http://localhost:{port}/text",
        "//2130706433:{port}/text",
        "http://[::1]:{port}/text",
        "http://[::ffff:127.0.0.1]:{port}/text",
        "http://169.254.169.254/latest/meta-data/",
        "file:///etc/passwd",
        "http://user:pass@127.0.0.1:{port}/text",
    ],
)
async def test_30_a_redirect_to_a_non_public_address_is_refused(served: Site, location: str) -> None:
    with site() as inner:
        served.location = location.format(port=inner.port)
        with pytest.raises((Forbidden, InvalidRequest)):
            await get(make_fetcher(f"127.0.0.1:{served.port}"), f"{served.url}/moved")
        assert inner.requests == []


async def test_30_a_host_is_resolved_only_once_so_rebinding_fails(
    served: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client connects to the checked address and does not resolve the name again."""
    lookups: list[str] = []
    getaddrinfo = anyio.getaddrinfo

    async def rebinding(host: str, port: int, **options: Any) -> Any:
        if host != "rebinding.example.com":
            return await getaddrinfo(host, port, **options)
        lookups.append(host)
        address = "203.0.113.7" if len(lookups) > 1 else "127.0.0.1"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    monkeypatch.setattr(anyio, "getaddrinfo", rebinding)

    def accept_all(address: str) -> bool:
        return True

    monkeypatch.setattr("scrubjay.features.workspace.web.addresses.is_public", accept_all)
    fetched = await get(make_fetcher(), f"http://rebinding.example.com:{served.port}/text")
    assert fetched.text == "plain text"
    assert len(lookups) == 1
    assert served.requests[0].headers["Host"] == f"rebinding.example.com:{served.port}"


async def test_30_proxies_of_the_environment_are_not_used(
    fetcher: Fetcher, served: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert (await get(fetcher, f"{served.url}/text")).text == "plain text"


async def test_23_30_transient_failures_are_retried_only_for_get(fetcher: Fetcher, served: Site) -> None:
    served.failures = 3
    assert (await get(fetcher, f"{served.url}/flaky")).status == 200
    assert len(served.requests) == 4
    served.failures, served.requests[:] = 9, []
    assert (await get(fetcher, f"{served.url}/flaky")).status == 503
    assert len(served.requests) == 4
    served.requests.clear()
    assert (await get(fetcher, f"{served.url}/flaky", method="POST", content=b"{}")).status == 503
    assert len(served.requests) == 1


async def test_30_failures_have_the_documented_messages(served: Site) -> None:
    with pytest.raises(Unavailable, match=r"^Request timed out$"):
        await get(make_fetcher(f"127.0.0.1:{served.port}"), f"{served.url}/hang", seconds=0.3)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        with pytest.raises(Unavailable, match=r"^Connection refused$"):
            await get(make_fetcher(f"127.0.0.1:{port}"), f"http://127.0.0.1:{port}/")
    with pytest.raises(Unavailable, match=r"^DNS resolution failed$"):
        await get(make_fetcher(), "http://does-not-exist.invalid/")


async def test_30_a_server_that_does_not_speak_http_is_reported(served: Site) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]

        def answer() -> None:
            for _ in range(4):
                connection, _ = listening.accept()
                connection.sendall(b"SSH-2.0-OpenSSH\r\n")
                connection.close()

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(Unavailable):
            await get(make_fetcher(f"127.0.0.1:{port}"), f"http://127.0.0.1:{port}/")
        thread.join()
    with pytest.raises(Unavailable) as refused:
        await get(make_fetcher(f"127.0.0.1:{served.port}"), f"https://127.0.0.1:{served.port}/")
    assert refused.value.details["reason"] == "tls"


@pytest.mark.parametrize("path", ["/bomb", "/page?large"])
async def test_30_a_body_is_read_only_up_to_the_limit(served: Site, path: str) -> None:
    fetcher = make_fetcher(f"127.0.0.1:{served.port}", max_body_bytes=100)
    fetched = await get(fetcher, f"{served.url}{path}")
    assert (len(fetched.body), fetched.truncated) == (100, True)
    with pytest.raises(TooLarge):
        parse_json(fetched)


@pytest.mark.parametrize("path", ["/broken", "/odd"])
async def test_30_an_invalid_content_encoding_is_reported(fetcher: Fetcher, served: Site, path: str) -> None:
    with pytest.raises(Unavailable, match="content encoding"):
        await get(fetcher, f"{served.url}{path}")


@pytest.mark.parametrize(
    "header",
    [
        ("Host", "evil"),
        ("content-length", "3"),
        ("Transfer-Encoding", "chunked"),
        ("Connection", "upgrade"),
        ("Proxy-Authorization", "x"),
        ("X-Bad", "a\r\nb: c"),
        ("X Bad", "a"),
        ("X-Bad", "ü"),
        ("", "a"),
    ],
)
def test_19_30_headers_that_could_smuggle_a_request_are_refused(header: tuple[str, str]) -> None:
    with pytest.raises(ScrubjayError):
        check_headers([header])
