"""Fetching from a real site. Numbers are rows of the feature table."""

import socket
import threading
from collections.abc import Generator
from typing import Any

import anyio
import pytest

from scrubjay.core.errors import Forbidden, InvalidRequest, ScrubjayError, TooLarge, Unavailable
from scrubjay.features.workspace.web.addresses import Reach
from scrubjay.features.workspace.web.fetcher import Asked, Fetcher, checked_headers, headers_as_told, json_of
from tests.features.workspace.web.serving import Site, site


@pytest.fixture
def served() -> Generator[Site]:
    with site() as served:
        yield served


@pytest.fixture
def fetcher(served: Site) -> Fetcher:
    return made(f"127.0.0.1:{served.port}")


def made(*allowed: str, max_body_bytes: int = 100_000) -> Fetcher:
    async def no_wait(seconds: float) -> None:
        pass

    return Fetcher(Reach(allowed), max_body_bytes, "Scrubjay/test", sleep=no_wait, random=lambda: 0.5)


async def get(fetcher: Fetcher, url: str, seconds: float = 10.0, **asked: Any) -> Any:
    return await fetcher.fetch(Asked(url, **asked), seconds=seconds)


async def test_30_an_answer_is_told_whatever_its_status(fetcher: Fetcher, served: Site) -> None:
    fetched = await get(fetcher, f"{served.url}/text?a=1&b=ü#part")
    assert (fetched.status, fetched.text, fetched.truncated) == (200, "plain text", False)
    assert served.requests[0].path == "/text?a=1&b=%C3%BC"
    assert served.requests[0].headers["User-Agent"] == "Scrubjay/test"
    missing = await get(fetcher, f"{served.url}/missing")
    assert (missing.status, missing.text) == (404, "nothing here")
    assert headers_as_told(missing.headers)["content-length"] == "12"


async def test_30_text_is_read_in_the_encoding_that_it_says(fetcher: Fetcher, served: Site) -> None:
    assert (await get(fetcher, f"{served.url}/latin")).text == "grün"
    assert (await get(fetcher, f"{served.url}/zipped")).text == "zipped text"


async def test_30_json_is_parsed_and_what_is_none_is_told(fetcher: Fetcher, served: Site) -> None:
    assert json_of(await get(fetcher, f"{served.url}/json")) == {"a": [1, None]}
    with pytest.raises(Unavailable, match=r"^Invalid JSON response$"):
        json_of(await get(fetcher, f"{served.url}/text"))


async def test_30_what_is_posted_arrives(fetcher: Fetcher, served: Site) -> None:
    sent = await get(
        fetcher,
        f"{served.url}/echo",
        method="POST",
        content=b'{"x": 1}',
        headers=[("X-Mine", "yes"), ("user-agent", "me")],
    )
    told = json_of(sent)
    assert (told["method"], told["body"], told["Content-Type"]) == ("POST", '{"x": 1}', "application/json")
    assert (told["X-Mine"], told["user-agent"]) == ("yes", "me")


async def test_30_redirects_are_followed_and_counted(fetcher: Fetcher, served: Site) -> None:
    fetched = await get(fetcher, f"{served.url}/moved", method="POST", content=b"{}")
    assert (fetched.text, fetched.redirects, fetched.url) == ("plain text", 1, f"{served.url}/text")
    assert [asked.method for asked in served.requests] == ["POST", "GET"]
    served.location = "/echo"
    kept = await get(fetcher, f"{served.url}/kept", method="POST", content=b'{"k": 1}')
    assert json_of(kept)["body"] == '{"k": 1}'
    with pytest.raises(Unavailable, match="redirects more than 10 times"):
        await get(fetcher, f"{served.url}/loop")


async def test_30_a_secret_is_not_sent_on_to_another_server(served: Site) -> None:
    with site() as other:
        served.location = f"{other.url}/echo"
        fetcher = made(f"127.0.0.1:{served.port}", f"127.0.0.1:{other.port}")
        fetched = await get(
            fetcher,
            f"{served.url}/kept",
            method="POST",
            content=b"{}",
            headers=[("Authorization", "Bearer s"), ("X-Api-Key", "s"), ("Cookie", "s"), ("Accept", "text/plain")],
        )
        told = json_of(fetched)
        assert served.requests[0].headers["Authorization"] == "Bearer s"
        assert told["Accept"] == "text/plain"
        assert not {"Authorization", "X-Api-Key", "Cookie"} & set(told)


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
async def test_30_a_redirect_leads_to_nothing_that_is_not_public(served: Site, location: str) -> None:
    with site() as inner:
        served.location = location.format(port=inner.port)
        with pytest.raises((Forbidden, InvalidRequest)):
            await get(made(f"127.0.0.1:{served.port}"), f"{served.url}/moved")
        assert inner.requests == []


async def test_30_a_name_that_means_something_else_the_second_time_is_not_asked_twice(
    served: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The address that was checked is the one that is connected to: rebinding finds no second look."""
    looked_up: list[str] = []
    real = anyio.getaddrinfo

    async def rebinding(host: str, port: int, **options: Any) -> Any:
        if host != "rebinding.example.com":
            return await real(host, port, **options)
        looked_up.append(host)
        address = "203.0.113.7" if len(looked_up) > 1 else "127.0.0.1"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    monkeypatch.setattr(anyio, "getaddrinfo", rebinding)

    def all_are(address: str) -> bool:
        return True

    monkeypatch.setattr("scrubjay.features.workspace.web.addresses.is_public", all_are)
    fetched = await get(made(), f"http://rebinding.example.com:{served.port}/text")
    assert fetched.text == "plain text"
    assert len(looked_up) == 1
    assert served.requests[0].headers["Host"] == f"rebinding.example.com:{served.port}"


async def test_30_proxies_of_the_environment_are_not_used(
    fetcher: Fetcher, served: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert (await get(fetcher, f"{served.url}/text")).text == "plain text"


async def test_23_30_what_may_work_is_tried_again_and_only_if_it_is_a_question(fetcher: Fetcher, served: Site) -> None:
    served.failures = 3
    assert (await get(fetcher, f"{served.url}/flaky")).status == 200
    assert len(served.requests) == 4
    served.failures, served.requests[:] = 9, []
    assert (await get(fetcher, f"{served.url}/flaky")).status == 503
    assert len(served.requests) == 4
    served.requests.clear()
    assert (await get(fetcher, f"{served.url}/flaky", method="POST", content=b"{}")).status == 503
    assert len(served.requests) == 1


async def test_30_failures_have_the_documented_words(served: Site) -> None:
    with pytest.raises(Unavailable, match=r"^Request timed out$"):
        await get(made(f"127.0.0.1:{served.port}"), f"{served.url}/hang", seconds=0.3)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        with pytest.raises(Unavailable, match=r"^Connection refused$"):
            await get(made(f"127.0.0.1:{port}"), f"http://127.0.0.1:{port}/")
    with pytest.raises(Unavailable, match=r"^DNS resolution failed$"):
        await get(made(), "http://does-not-exist.invalid/")


async def test_30_a_server_that_speaks_no_http_is_told(served: Site) -> None:
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
            await get(made(f"127.0.0.1:{port}"), f"http://127.0.0.1:{port}/")
        thread.join()
    with pytest.raises(Unavailable) as refused:
        await get(made(f"127.0.0.1:{served.port}"), f"https://127.0.0.1:{served.port}/")
    assert refused.value.details["reason"] == "tls"


@pytest.mark.parametrize("path", ["/bomb", "/page?large"])
async def test_30_no_more_of_a_body_is_read_than_is_wanted(served: Site, path: str) -> None:
    fetcher = made(f"127.0.0.1:{served.port}", max_body_bytes=100)
    fetched = await get(fetcher, f"{served.url}{path}")
    assert (len(fetched.body), fetched.truncated) == (100, True)
    with pytest.raises(TooLarge):
        json_of(fetched)


@pytest.mark.parametrize("path", ["/broken", "/odd"])
async def test_30_what_is_packed_wrongly_is_told(fetcher: Fetcher, served: Site, path: str) -> None:
    with pytest.raises(Unavailable, match="packed"):
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
def test_19_30_headers_that_could_make_two_messages_of_one_are_refused(header: tuple[str, str]) -> None:
    with pytest.raises(ScrubjayError):
        checked_headers([header])
