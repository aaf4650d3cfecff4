"""Server-sent events are parsed regardless of how the bytes are split."""

from collections.abc import AsyncIterator
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from scrubjay.models import sse as server_events
from scrubjay.models.sse import ServerEvent, events_of

STREAM = b': hi\n\ndata: {"a": 1}\n\nevent: x\r\ndata:two\r\ndata: lines\r\n\r\ndata: last'


async def parse(pieces: list[bytes]) -> list[ServerEvent | None]:
    async def stream() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece

    return [event async for event in events_of(stream())]


@given(st.lists(st.integers(0, len(STREAM)), max_size=8))
async def test_005_events_are_the_same_however_the_bytes_are_split(cuts: list[int]) -> None:
    offsets = [0, *sorted(cuts), len(STREAM)]
    pieces = [STREAM[begin:end] for begin, end in pairwise(offsets)]
    events = [event for event in await parse(pieces) if event is not None]
    assert [event.data for event in events] == [b"", b'{"a": 1}', b"two\nlines", b"last"]
    assert b"".join(event.raw for event in events) == STREAM + b"\n\n"


async def test_005_an_incomplete_event_is_dropped() -> None:
    piece = b"x" * (server_events.MAX_EVENT_BYTES // 2 + 1)
    assert await parse([b"data: a\n\n", piece, piece, piece]) == [ServerEvent(b"data: a\n\n"), None]
