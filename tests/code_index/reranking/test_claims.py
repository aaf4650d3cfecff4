"""Claims are exclusive within a process and between processes."""

from multiprocessing.connection import Connection
from pathlib import Path

from scrubjay.code_index.reranking.chunk_texts import key_of
from scrubjay.code_index.reranking.claims import Claims
from tests.processes import FORKED

ONE, TWO, THREE = map(key_of, ("one", "two", "three"))
SECONDS = 30.0


def hold(path: Path, keys: list[str], results: Connection, commands: Connection) -> None:
    """Claim keys in a child process, and release those that it receives."""
    claims = Claims(path)
    results.send(claims.take(keys))
    while True:
        claims.release(commands.recv())
        results.send(None)


def test_a_claimed_key_cannot_be_claimed_until_it_is_released(tmp_path: Path) -> None:
    claims = Claims(tmp_path / "new" / "file.claims")
    assert claims.take([ONE, TWO, ONE]) == [ONE, TWO]
    assert claims.take([TWO, THREE]) == [THREE]
    claims.release([TWO])
    assert claims.take([ONE, TWO, THREE]) == [TWO]
    claims.close()


def test_a_key_claimed_by_another_process_is_free_when_that_process_releases_it_or_dies(tmp_path: Path) -> None:
    path = tmp_path / "file.claims"
    results, results_writer = FORKED.Pipe(duplex=False)
    commands_reader, commands = FORKED.Pipe(duplex=False)
    process = FORKED.Process(target=hold, args=(path, [ONE, TWO], results_writer, commands_reader))
    process.start()
    claims = Claims(path)
    try:
        assert results.poll(SECONDS)
        assert results.recv() == [ONE, TWO]
        assert claims.take([ONE, TWO, THREE]) == [THREE]
        commands.send([TWO])
        assert results.poll(SECONDS)
        assert claims.take([ONE, TWO]) == [TWO]
    finally:
        process.kill()
        process.join(SECONDS)
    assert claims.take([ONE]) == [ONE]
    claims.close()
