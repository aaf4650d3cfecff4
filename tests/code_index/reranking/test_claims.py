"""Claims: what one asks for, nobody else asks for, in this process or another."""

from multiprocessing.connection import Connection
from pathlib import Path

from scrubjay.code_index.reranking.chunk_texts import key_of
from scrubjay.code_index.reranking.claims import Claims
from tests.processes import FORKED

ONE, TWO, THREE = map(key_of, ("one", "two", "three"))
SECONDS = 30.0


def hold(path: Path, keys: list[str], says: Connection, hears: Connection) -> None:
    claims = Claims(path)
    says.send(claims.take(keys))
    while True:
        claims.release(hears.recv())
        says.send(None)


def test_what_is_claimed_is_not_claimed_again_until_it_is_released(tmp_path: Path) -> None:
    claims = Claims(tmp_path / "new" / "file.claims")
    assert claims.take([ONE, TWO, ONE]) == [ONE, TWO]
    assert claims.take([TWO, THREE]) == [THREE]
    claims.release([TWO])
    assert claims.take([ONE, TWO, THREE]) == [TWO]
    claims.close()


def test_what_another_process_claimed_is_free_when_it_says_so_or_dies(tmp_path: Path) -> None:
    path = tmp_path / "file.claims"
    heard, says = FORKED.Pipe(duplex=False)
    hears, tell = FORKED.Pipe(duplex=False)
    process = FORKED.Process(target=hold, args=(path, [ONE, TWO], says, hears))
    process.start()
    claims = Claims(path)
    try:
        assert heard.poll(SECONDS)
        assert heard.recv() == [ONE, TWO]
        assert claims.take([ONE, TWO, THREE]) == [THREE]
        tell.send([TWO])
        assert heard.poll(SECONDS)
        assert claims.take([ONE, TWO]) == [TWO]
    finally:
        process.kill()
        process.join(SECONDS)
    assert claims.take([ONE]) == [ONE]
    claims.close()
