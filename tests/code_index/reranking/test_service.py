"""Searches reranked by an embedding service that is available, down or slow, and removal of unused vectors."""

import shutil
from pathlib import Path
from typing import Any

import anyio
import pytest

from scrubjay.code_index.cross_repo.search import RepositoryHit, search_all
from scrubjay.code_index.reranking.background_tasks import BackgroundTask
from scrubjay.code_index.reranking.chunk_vectors import ChunkVectors
from scrubjay.code_index.search.ranker import SignalToggles
from scrubjay.code_index.service import CodeHit, SearchHits
from scrubjay.core.paths import CODE_DATABASE
from scrubjay.db.sqlite.connections import Connection
from tests.code_index.discovery.repository import commit, git, new_repository, write
from tests.code_index.reranking.conftest import NAMES, source
from tests.code_index.reranking.environment import open_environment
from tests.models.batch_service import BatchService

QUERY = "what keeps fruit fresh?"
SECRET = "ghp_" + "a1B2" * 9


def figs_first(name: str) -> list[float]:
    """Return a vector by which texts about figs are the most similar to a question, then plums, then pears."""
    near = {"figs": 1.0, "plums": 0.8, "pears": 0.4}
    share = next((share for word, share in near.items() if word in name), 1.0 if "what" in name else 0.1)
    return [share, (1 - share**2) ** 0.5, *[0.0] * 6]


def paths(hits: SearchHits[CodeHit]) -> list[str]:
    return [hit.file.path for hit in hits]


async def test_a_search_before_the_worker_embeds_its_top_results(
    tmp_path: Path, repository: Path, service: BatchService
) -> None:
    service.embed = figs_first
    write(repository, {"figs.py": source("figs") + f'\n\ntoken = "{SECRET}"\n'})
    async with open_environment(tmp_path / "home", service.url) as env:
        built = await env.build(repository)
        plain = await env.search(built, QUERY, vector=False)
        assert (service.requests, plain.degraded) == ([], None)
        hits = await env.search(built, f"{QUERY} {SECRET}")
        assert (paths(hits), hits.degraded) == (["figs.py", "plums.py", "pears.py", "apples.py"], None)
        assert hits[0].scores["vector"] > hits[3].scores["vector"]
        assert {text.split("\n")[0] for text in service.texts} == {
            "what keeps fruit fresh? [secret: github token]",
            *(f'"""Keeps {name} fresh."""' for name in NAMES),
        }
        assert SECRET not in "".join(service.texts)
        assert await env.counts(built) == (4, 0, 0)
        requests = len(service.requests)
        assert paths(await env.search(built, f"{QUERY} {SECRET}")) == paths(hits)
        assert len(service.requests) == requests  # all vectors are known
    # After a restart only the query is embedded again.
    async with open_environment(tmp_path / "home", service.url) as env:
        assert paths(await env.search(built, f"{QUERY} {SECRET}")) == paths(hits)
        assert len(service.requests) == requests + 1


async def test_a_search_embeds_only_its_top_candidates(tmp_path: Path, repository: Path, service: BatchService) -> None:
    service.embed = figs_first
    async with open_environment(tmp_path / "home", service.url) as env:
        env.embedding.candidates = 2
        built = await env.build(repository)
        before = paths(await env.search(built, QUERY, vector=False))
        await env.search(built, QUERY)
        assert len([text for text in service.texts if "def " in text]) == 2
        assert await env.counts(built) == (2, 0, 2)
        await env.search(built, QUERY)
        assert await env.counts(built) == (2, 0, 2)
        assert len(before) == 4


async def test_search_works_without_the_service_and_reports_it(
    tmp_path: Path, repository: Path, service: BatchService
) -> None:
    async with open_environment(tmp_path / "home", service.url) as env:
        built = await env.build(repository)
        env.code.embedding = None
        without = await env.search(built, QUERY)
        env.code.embedding = env.embedding
        service.down = True
        hits = await env.search(built, QUERY)
        assert [*hits] == [*without]
        assert (without.degraded, hits.degraded) == (
            None,
            f"ranked by the bundled model alone: vllm at {service.url[7:-3]} fails (HTTP 503)",
        )
        # One request for the query, one for the missing chunks.
        await anyio.to_thread.run_sync(service.wait_until, lambda: len(service.requests) == 2)
        again = await env.search(built, QUERY)
        assert [*again] == [*without]
        assert ("is paused" in (again.degraded or ""), len(service.requests)) == (True, 2)


async def test_a_search_does_not_wait_beyond_its_time_budget_and_late_vectors_are_stored(
    tmp_path: Path, repository: Path, service: BatchService, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.embed = figs_first
    async with open_environment(tmp_path / "home", service.url, seconds=0.05) as env:
        built = await env.build(repository)
        service.answering.clear()
        hits = await env.search(built, QUERY)
        assert hits.degraded == "ranked by the bundled model alone: vllm/a-model did not answer within 0.05 s"
        await anyio.to_thread.run_sync(service.wait_until, lambda: len(service.texts) == 5)
        service.answering.set()
        with anyio.fail_after(5):
            while True:
                if (await env.counts(built)).embedded == 4:
                    break
                await anyio.sleep(0.01)
        assert len(service.texts) == 5
    async with open_environment(tmp_path / "home", service.url) as env:
        assert paths(await env.search(built, QUERY))[0] == "figs.py"
        assert len(service.texts) == 6


async def test_chunks_without_a_vector_keep_their_rank(tmp_path: Path, repository: Path, service: BatchService) -> None:
    service.embed = figs_first
    async with open_environment(tmp_path / "home", service.url) as env:
        built = await env.build(repository)
        await env.search(built, QUERY)
    write(repository, {"apples.py": source("apples") + "\n\n# more figs\n"})
    async with open_environment(tmp_path / "home", service.url) as env:
        built = await env.build(repository)
        await env.embedding._requests.embedder.embed([QUERY])  # pyright: ignore[reportPrivateUsage]
        service.down = True
        hits = await env.search(built, QUERY)
        assert ([path for path in paths(hits) if path != "apples.py"], hits.degraded) == (
            ["figs.py", "plums.py", "pears.py"],
            f"ranked partly by the bundled model: vllm at {service.url[7:-3]} fails (HTTP 503)",
        )


async def test_a_search_over_several_indexes_embeds_the_query_once_and_has_one_deadline(
    tmp_path: Path, repository: Path, service: BatchService, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = new_repository(tmp_path / "other", {"dates.py": source("dates")})
    deadlines: list[float] = []
    result_by = BackgroundTask[Any].result_by

    async def recording_result_by(task: BackgroundTask[Any], deadline: float) -> Any:
        deadlines.append(deadline)
        return await result_by(task, deadline)

    monkeypatch.setattr(BackgroundTask, "result_by", recording_result_by)
    async with open_environment(tmp_path / "home", service.url) as env:
        built = [await env.build(repository), await env.build(other)]
        loaded = [await env.code.load(each.record.id) for each in built]

        async def search() -> SearchHits[RepositoryHit]:
            return await search_all(env.code, loaded, QUERY, limit=10, toggles=SignalToggles(), context_lines=0)

        hits = await search()
        assert (len(hits), hits.degraded, len(deadlines), len({*deadlines})) == (5, None, 3, 1)
        assert [text for text in service.texts if "def " not in text] == [QUERY]
        service.down = True
        again = await search()  # all vectors are known
        assert ([*again], again.degraded) == ([*hits], None)


async def test_a_bug_in_the_reranker_does_not_fail_the_search(
    tmp_path: Path, repository: Path, service: BatchService, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> int:
        raise ZeroDivisionError

    async with open_environment(tmp_path / "home", service.url) as env:
        built = await env.build(repository)
        monkeypatch.setattr(ChunkVectors, "fill", broken)
        hits = await env.search(built, QUERY)
        assert hits.degraded == "ranked partly by the bundled model: using vllm/a-model failed (ZeroDivisionError)"
        assert len(hits) == 4


async def test_branches_and_moved_files_share_vectors(tmp_path: Path, repository: Path, service: BatchService) -> None:
    async with open_environment(tmp_path / "home", service.url) as env:
        await env.build(repository)
        await env.embedding.worker.work()
        assert len(service.texts) == 4
        git(repository, "mv", "figs.py", "dates.py")
        head, *chunks = source("plums").split("\n\n\n")
        body = "\n\n\n".join([head, *chunks, *(f"def f{n}(x):\n    " + f"x += {n}\n    " * 200 for n in range(3))])
        write(repository, {"plums.py": body})
        commit(repository, "Second")
        built = await env.build(repository)
        other = await env.build(repository, rev="HEAD~1")
        await env.embedding.worker.work()
        total = (await env.counts(built)).embedded
        assert await env.counts(built) == (total, 0, 0)
        assert await env.counts(other) == (4, 0, 0)
        assert total > 6
        assert len(service.texts) == len({*service.texts})
        write(repository, {"plums.py": body.replace("x += 2", "x += 22")})
        texts = len(service.texts)
        built = await env.build(repository)
        await env.embedding.worker.work()
        assert 0 < len(service.texts) - texts < total - 3  # only the changed chunks of the file


async def test_cleaning_up_removes_only_the_vectors_of_removed_content(
    tmp_path: Path, repository: Path, service: BatchService
) -> None:
    async with open_environment(tmp_path / "home", service.url) as env:
        await env.build(repository)
        await env.embedding.worker.work()
        (repository / "figs.py").unlink()
        write(repository, {"new.py": source("new")})  # not embedded yet
        built = await env.build(repository)
        await env.code.clean_up()
        assert await env.counts(built) == (3, 1, 0)
    texts = len(service.texts)
    git(repository, "checkout", "--quiet", "--", "figs.py")
    async with open_environment(tmp_path / "home", service.url) as env:
        await env.build(repository)
        await env.embedding.worker.work()
        assert {text.split(" ")[1] for text in service.texts[texts:]} == {"figs", "new"}
        await env.store.delete(built.record.id)
        await env.code.clean_up()
        assert (await env.embedding.state()).counts == {}
    connection = Connection(tmp_path / "home" / CODE_DATABASE, 1.0)
    assert connection.execute("SELECT * FROM embedded_text") == connection.execute("SELECT * FROM code_texts") == []
    connection.close()


async def test_vectors_are_removed_with_their_index_when_embedding_is_disabled(
    tmp_path: Path, repository: Path, service: BatchService
) -> None:
    async with open_environment(tmp_path / "home", service.url) as env:
        built = await env.build(repository)
        await env.embedding.worker.work()
        env.code.embedding = None
        await env.code.clean_up()
        assert await env.counts(built) == (4, 0, 0)
        shutil.rmtree(repository)
        assert await env.code.clean_up() == 1
    connection = Connection(tmp_path / "home" / CODE_DATABASE, 1.0)
    assert connection.execute("SELECT * FROM embedded_text") == []
    connection.close()


async def test_each_model_has_its_own_vectors(tmp_path: Path, repository: Path, service: BatchService) -> None:
    service.embed = figs_first
    async with open_environment(tmp_path / "home", service.url) as env:
        built = await env.build(repository)
        await env.embedding.worker.work()
        first = paths(await env.search(built, QUERY))
    service.embed = lambda text: figs_first(text)[::-1]
    async with open_environment(tmp_path / "home", service.url, model="another") as env:
        assert await env.counts(built) == (0, 4, 0)
        texts = len(service.texts)
        assert paths(await env.search(built, QUERY))[0] == "figs.py"  # other vectors with the same cosines
        assert (len(service.texts) - texts, await env.counts(built)) == (5, (4, 0, 0))
        await env.embedding.worker.work()
        assert len(service.texts) - texts == 5
    service.down = True
    async with open_environment(tmp_path / "home", service.url) as env:
        await env.embedding.worker.work()  # a request would fail
        assert await env.counts(built) == (4, 0, 0)
    service.down = False
    async with open_environment(tmp_path / "home", service.url) as env:
        service.embed = figs_first
        texts = len(service.texts)
        assert (paths(await env.search(built, QUERY)), len(service.texts) - texts) == (first, 1)
