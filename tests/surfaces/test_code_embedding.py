"""Code is embedded with the configured model, on every surface. Numbers are rows of the feature table."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.code_index.discovery.repository import new_repository
from tests.models.batch_service import KEY, BatchService, running_batch_service
from tests.models.service import DIMENSIONS
from tests.surfaces.callers import SURFACES, Caller, open_caller, server

SETTINGS = f"""
[embedding]
provider = "vllm"
model = "a-model"
dimensions = {DIMENSIONS}
base_url = "{{}}"
api_key = "{KEY}"
retries = 0

[code]
embeddings = "memories"
embedding_seconds = 30
"""
SECRET = "ghp_" + "a1B2" * 9
FILES = {
    "apples.py": f'"""Keeps apples fresh."""\n\n\ndef keep_apples(basket):\n    return send(basket, "{SECRET}")\n',
    "figs.py": '"""Keeps figs fresh."""\n\n\ndef keep_figs(basket):\n    return sorted(basket)\n',
}


def likes_apples(text: str) -> list[float]:
    share = 0.1 if "figs" in text else 1.0
    return [share, (1 - share**2) ** 0.5, *[0.0] * (DIMENSIONS - 2)]


@pytest.fixture(params=SURFACES)
async def opened(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncGenerator[tuple[Caller, BatchService]]:
    """Calls tools with a separate home, whose settings name a separate embedding service."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.chdir(home)
    async with AsyncExitStack() as stack:
        service = stack.enter_context(running_batch_service())
        (home / "scrubjay.toml").write_text(SETTINGS.format(service.url), "utf-8")
        is_http = request.param == "rest" or "http" in request.param
        url = stack.enter_context(server(home)) if is_http else ""
        yield await stack.enter_async_context(open_caller(request.param, home, url)), service


async def test_109_the_first_search_embeds_what_it_needs_and_reports_when_it_cannot(
    opened: tuple[Caller, BatchService], tmp_path: Path
) -> None:
    call, service = opened
    service.embed = likes_apples
    repository = str(new_repository(tmp_path / "repository", FILES))
    indexed = await call("index", action="project", path=repository)
    index_id = indexed["indexes"][0]["index_id"]
    result = await call("search_repo", index_id=index_id, query="what keeps fruit fresh?")
    assert ([hit["path"] for hit in result["results"]], "degraded" in result) == (["apples.py", "figs.py"], False)
    assert len([text for text in service.texts if "def " in text]) == 2
    assert SECRET not in "".join(service.texts)

    status = await call("index", action="status")
    (index,) = [one for one in status["indexes"] if one["index_id"] == index_id]
    assert index["embeddings"] == {"model": "vllm/a-model", "embedded": 2, "pending": 0, "unread": 0}
    assert status["message"].endswith("; 0 chunks wait for vllm/a-model")

    service.down = True
    degraded = await call("search_repo", index_id=index_id, query="how are apples kept fresh?")
    assert (degraded["results"][0]["path"], len(degraded["results"])) == ("apples.py", 2)
    assert degraded["degraded"].startswith("ranked by the bundled model alone: ")
    across = await call("search_repos", index_ids=[index_id], query="how are figs kept fresh?")
    assert (across["results"][0]["path"], "bundled model alone" in across["degraded"]) == ("figs.py", True)
    request_count = len(service.requests)
    keyword_only = await call("search_repo", index_id=index_id, query="how are figs kept?", features={"vector": False})
    assert (len(keyword_only["results"]), "degraded" in keyword_only, len(service.requests)) == (
        2,
        False,
        request_count,
    )
