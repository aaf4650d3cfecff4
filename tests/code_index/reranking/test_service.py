"""A search that comes first, a service that is down, slow or refuses, and the vectors of what is gone."""

import shutil
from pathlib import Path
from typing import Any

import anyio
import pytest

from scrubjay.code_index.cross_repo.search import HitOf, search_all
from scrubjay.code_index.reranking.background_tasks import Begun
from scrubjay.code_index.reranking.chunk_vectors import Parts
from scrubjay.code_index.search.ranker import Toggles
from scrubjay.code_index.service import CodeHit, Hits
from scrubjay.db.sqlite.connections import Connection
from scrubjay.features.code.sqlite import DATABASE
from tests.code_index.discovery.repository import commit, git, new_repository, write
from tests.code_index.reranking.conftest import NAMES, source
from tests.code_index.reranking.houses import opened
from tests.models.batch_service import BatchService

QUERY = "what keeps fruit fresh?"
SECRET = "ghp_" + "a1B2" * 9


def likes(name: str) -> list[float]:
    """A meaning next to which what is about figs is the nearest."""
    near = {"figs": 1.0, "plums": 0.8, "pears": 0.4}
    share = next((share for word, share in near.items() if word in name), 1.0 if "what" in name else 0.1)
    return [share, (1 - share**2) ** 0.5, *[0.0] * 6]


def paths(hits: Hits[CodeHit]) -> list[str]:
    return [hit.file.path for hit in hits]


async def test_a_search_that_comes_first_has_what_it_ranks_highest_embedded(
    tmp_path: Path, repository: Path, service: BatchService
) -> None:
    service.meaning = likes
    write(repository, {"figs.py": source("figs") + f'\n\ntoken = "{SECRET}"\n'})
    async with opened(tmp_path / "home", service.url) as house:
        built = await house.build(repository)
        plain = await house.search(built, QUERY, vector=False)
        assert (service.asked, plain.degraded) == ([], None)
        found = await house.search(built, f"{QUERY} {SECRET}")
        assert (paths(found), found.degraded) == (["figs.py", "plums.py", "pears.py", "apples.py"], None)
        assert found[0].scores["vector"] > found[3].scores["vector"]
        assert {text.split("\n")[0] for text in service.texts} == {
            "what keeps fruit fresh? [secret: github token]",
            *(f'"""Keeps {name} fresh."""' for name in NAMES),
        }
        assert SECRET not in "".join(service.texts)
        assert await house.counts(built) == (4, 0, 0)
        asked = len(service.asked)
        assert paths(await house.search(built, f"{QUERY} {SECRET}")) == paths(found)
        assert len(service.asked) == asked  # all of it is known
    async with opened(
        tmp_path / "home", service.url
    ) as house:  # also after a restart; only the question is asked again
        assert paths(await house.search(built, f"{QUERY} {SECRET}")) == paths(found)
        assert len(service.asked) == asked + 1


async def test_only_the_highest_ranked_are_embedded_and_the_rest_keeps_what_it_has(
    tmp_path: Path, repository: Path, service: BatchService
) -> None:
    service.meaning = likes
    async with opened(tmp_path / "home", service.url) as house:
        house.embedding.candidates = 2
        built = await house.build(repository)
        before = paths(await house.search(built, QUERY, vector=False))
        await house.search(built, QUERY)
        assert len([text for text in service.texts if "def " in text]) == 2
        assert await house.counts(built) == (2, 0, 2)
        await house.search(built, QUERY)
        assert await house.counts(built) == (2, 0, 2)
        assert len(before) == 4


async def test_when_the_service_is_down_search_works_as_without_it_and_says_so(
    tmp_path: Path, repository: Path, service: BatchService
) -> None:
    async with opened(tmp_path / "home", service.url) as house:
        built = await house.build(repository)
        house.code.embedding = None
        without = await house.search(built, QUERY)
        house.code.embedding = house.embedding
        service.down = True
        found = await house.search(built, QUERY)
        assert [*found] == [*without]
        assert (without.degraded, found.degraded) == (
            None,
            f"ranked by the bundled model alone: vllm at {service.url[7:-3]} fails (HTTP 503)",
        )
        # The question, and beside it what is pending.
        await anyio.to_thread.run_sync(service.wait_until, lambda: len(service.asked) == 2)
        again = await house.search(built, QUERY)
        assert [*again] == [*without]
        assert ("is left alone" in (again.degraded or ""), len(service.asked)) == (True, 2)


async def test_a_search_does_not_wait_long_and_what_it_asked_for_is_kept_all_the_same(
    tmp_path: Path, repository: Path, service: BatchService, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.meaning = likes
    async with opened(tmp_path / "home", service.url, seconds=0.05) as house:
        built = await house.build(repository)
        service.answering.clear()
        found = await house.search(built, QUERY)
        assert found.degraded == "ranked by the bundled model alone: vllm/a-model did not answer within 0.05 s"
        await anyio.to_thread.run_sync(service.wait_until, lambda: len(service.texts) == 5)
        service.answering.set()
        with anyio.fail_after(5):
            while True:
                if (await house.counts(built)).embedded == 4:
                    break
                await anyio.sleep(0.01)
        assert len(service.texts) == 5
    async with opened(tmp_path / "home", service.url) as house:
        assert paths(await house.search(built, QUERY))[0] == "figs.py"
        assert len(service.texts) == 6


async def test_parts_that_are_not_there_in_time_are_ranked_as_before(
    tmp_path: Path, repository: Path, service: BatchService
) -> None:
    service.meaning = likes
    async with opened(tmp_path / "home", service.url) as house:
        built = await house.build(repository)
        await house.search(built, QUERY)
    write(repository, {"apples.py": source("apples") + "\n\n# more figs\n"})
    async with opened(tmp_path / "home", service.url) as house:
        built = await house.build(repository)
        await house.embedding._asking.embedder.embed([QUERY])  # pyright: ignore[reportPrivateUsage]
        service.down = True
        found = await house.search(built, QUERY)
        assert ([path for path in paths(found) if path != "apples.py"], found.degraded) == (
            ["figs.py", "plums.py", "pears.py"],
            f"ranked partly by the bundled model: vllm at {service.url[7:-3]} fails (HTTP 503)",
        )


async def test_of_several_indexes_one_question_is_asked_and_all_are_waited_for_together(
    tmp_path: Path, repository: Path, service: BatchService, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = new_repository(tmp_path / "other", {"dates.py": source("dates")})
    deadlines: list[float] = []
    by = Begun[Any].by

    async def noted(begun: Begun[Any], deadline: float) -> Any:
        deadlines.append(deadline)
        return await by(begun, deadline)

    monkeypatch.setattr(Begun, "by", noted)
    async with opened(tmp_path / "home", service.url) as house:
        built = [await house.build(repository), await house.build(other)]
        loaded = [await house.code.load(one.record.id) for one in built]

        async def search() -> Hits[HitOf]:
            return await search_all(house.code, loaded, QUERY, limit=10, toggles=Toggles(), context_lines=0)

        found = await search()
        assert (len(found), found.degraded, len(deadlines), len({*deadlines})) == (5, None, 3, 1)
        assert [text for text in service.texts if "def " not in text] == [QUERY]
        service.down = True
        again = await search()  # all of it is known
        assert ([*again], again.degraded) == ([*found], None)


async def test_a_bug_in_hearing_it_is_no_failure_of_the_search(
    tmp_path: Path, repository: Path, service: BatchService, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> int:
        raise ZeroDivisionError

    async with opened(tmp_path / "home", service.url) as house:
        built = await house.build(repository)
        monkeypatch.setattr(Parts, "fill", broken)
        found = await house.search(built, QUERY)
        assert found.degraded == "ranked partly by the bundled model: hearing vllm/a-model failed (ZeroDivisionError)"
        assert len(found) == 4


async def test_branches_and_moved_files_share_what_was_embedded(
    tmp_path: Path, repository: Path, service: BatchService
) -> None:
    async with opened(tmp_path / "home", service.url) as house:
        await house.build(repository)
        await house.embedding.worker.work()
        assert len(service.texts) == 4
        git(repository, "mv", "figs.py", "dates.py")
        head, *parts = source("plums").split("\n\n\n")
        body = "\n\n\n".join([head, *parts, *(f"def f{n}(x):\n    " + f"x += {n}\n    " * 200 for n in range(3))])
        write(repository, {"plums.py": body})
        commit(repository, "Second")
        built = await house.build(repository)
        other = await house.build(repository, rev="HEAD~1")
        await house.embedding.worker.work()
        total = (await house.counts(built)).embedded
        assert await house.counts(built) == (total, 0, 0)
        assert await house.counts(other) == (4, 0, 0)
        assert total > 6
        assert len(service.texts) == len({*service.texts})
        write(repository, {"plums.py": body.replace("x += 2", "x += 22")})
        asked = len(service.texts)
        built = await house.build(repository)
        await house.embedding.worker.work()
        assert 0 < len(service.texts) - asked < total - 3  # of a changed file only what changed


async def test_cleaning_up_removes_the_vectors_of_what_is_gone_and_no_others(
    tmp_path: Path, repository: Path, service: BatchService
) -> None:
    async with opened(tmp_path / "home", service.url) as house:
        await house.build(repository)
        await house.embedding.worker.work()
        (repository / "figs.py").unlink()
        write(repository, {"new.py": source("new")})  # which nobody embedded yet
        built = await house.build(repository)
        await house.code.clean_up()
        assert await house.counts(built) == (3, 1, 0)
    asked = len(service.texts)
    git(repository, "checkout", "--quiet", "--", "figs.py")
    async with opened(tmp_path / "home", service.url) as house:
        await house.build(repository)
        await house.embedding.worker.work()
        assert {text.split(" ")[1] for text in service.texts[asked:]} == {"figs", "new"}
        await house.store.delete(built.record.id)
        await house.code.clean_up()
        assert (await house.embedding.state()).counts == {}
    connection = Connection(tmp_path / "home" / DATABASE, 1.0)
    assert connection.execute("SELECT * FROM embedded_text") == connection.execute("SELECT * FROM code_texts") == []
    connection.close()


async def test_vectors_go_with_their_indexes_also_when_nothing_is_embedded_any_more(
    tmp_path: Path, repository: Path, service: BatchService
) -> None:
    async with opened(tmp_path / "home", service.url) as house:
        built = await house.build(repository)
        await house.embedding.worker.work()
        house.code.embedding = None
        await house.code.clean_up()
        assert await house.counts(built) == (4, 0, 0)
        shutil.rmtree(repository)
        assert await house.code.clean_up() == 1
    connection = Connection(tmp_path / "home" / DATABASE, 1.0)
    assert connection.execute("SELECT * FROM embedded_text") == []
    connection.close()


async def test_another_model_makes_its_own_vectors_and_the_first_keeps_its_own(
    tmp_path: Path, repository: Path, service: BatchService
) -> None:
    service.meaning = likes
    async with opened(tmp_path / "home", service.url) as house:
        built = await house.build(repository)
        await house.embedding.worker.work()
        first = paths(await house.search(built, QUERY))
    service.meaning = lambda text: likes(text)[::-1]
    async with opened(tmp_path / "home", service.url, model="another") as house:
        assert await house.counts(built) == (0, 4, 0)
        asked = len(service.texts)
        assert paths(await house.search(built, QUERY))[0] == "figs.py"  # the same cosines of other vectors
        assert (len(service.texts) - asked, await house.counts(built)) == (5, (4, 0, 0))
        await house.embedding.worker.work()
        assert len(service.texts) - asked == 5
    service.down = True
    async with opened(tmp_path / "home", service.url) as house:
        await house.embedding.worker.work()  # would be noticed if it asked for anything
        assert await house.counts(built) == (4, 0, 0)
    service.down = False
    async with opened(tmp_path / "home", service.url) as house:
        service.meaning = likes
        asked = len(service.texts)
        assert (paths(await house.search(built, QUERY)), len(service.texts) - asked) == (first, 1)
