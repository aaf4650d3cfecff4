"""The page at `/docs`: a single file that loads nothing from other hosts, so that it works offline."""

import base64
import hashlib
import re
from functools import cache
from importlib import resources

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response


async def serve_docs(_: Request) -> Response:
    """Serve the page that shows the operations of the OpenAPI document and can call them."""
    text, policy = _page()
    return HTMLResponse(text, headers={"Content-Security-Policy": policy})


@cache
def _page() -> tuple[str, str]:
    """Return the page and a content security policy that allows exactly the page's own script and style."""
    text = resources.files("scrubjay.servers.rest").joinpath("docs.html").read_text("utf-8")
    script, style = (_hashes(tag, text) for tag in ("script", "style"))
    policy = (
        f"default-src 'none'; script-src {script}; style-src {style}; connect-src 'self'; img-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return text, policy


def _hashes(tag: str, text: str) -> str:
    found = re.findall(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
    return " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(block.encode()).digest()).decode()}'" for block in found)
