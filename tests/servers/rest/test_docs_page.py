"""The page at /docs works offline, and its policy allows only its own script and style."""

import base64
import hashlib
import re

import httpx2


async def test_the_page_loads_nothing_from_other_hosts(client: httpx2.AsyncClient):
    text = (await client.get("/docs")).text
    assert not re.findall(r"<(?:script|link|img|iframe)[^>]*(?:src|href)=[\"'](?!data:)", text)
    assert set(re.findall(r"https?://[^\s\"'`)]*", text)) <= {"http://www.w3.org/2000/svg"}
    assert not re.findall(r"@import|\burl\(", text)


async def test_the_policy_allows_exactly_the_pages_script_and_style(client: httpx2.AsyncClient):
    response = await client.get("/docs")
    policy = dict(part.strip().split(" ", 1) for part in response.headers["content-security-policy"].split(";"))
    for directive, tag in (("script-src", "script"), ("style-src", "style")):
        (block,) = re.findall(rf"<{tag}>(.*?)</{tag}>", response.text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(block.encode()).digest()).decode()
        assert policy[directive] == f"'sha256-{digest}'"
    assert policy["default-src"] == "'none'"
    assert policy["connect-src"] == "'self'"


async def test_the_page_has_no_inline_handlers_or_styles(client: httpx2.AsyncClient):
    text = (await client.get("/docs")).text
    markup = re.sub(r"<(script|style)>.*?</\1>", "", text, flags=re.DOTALL)
    assert not re.findall(r"\s(?:on\w+|style)=", markup)
    assert "innerHTML" not in text
