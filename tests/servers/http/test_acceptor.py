"""New connections are accepted all at once, however long an iteration of the event loop takes."""

import asyncio
import errno
import socket
import sys
from collections.abc import Callable, Coroutine
from contextlib import suppress

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from scrubjay.servers.http import acceptor
from scrubjay.servers.http.acceptor import Acceptor
from tests.servers.rest.uvicorn_server import Server

if sys.platform != "win32":
    import uvloop
else:
    pytest.skip("uvloop does not support Windows", allow_module_level=True)

CLIENTS = 50
# Iterations of the event loop from a waiting connection to its protocol: to accept it, and to start its transport.
ITERATIONS = 6


class _Recorder(asyncio.Protocol):
    """Records connections."""

    connections = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        type(self).connections += 1
        transport.close()


class _ExhaustedSocket(socket.socket):
    """Has no free file descriptor for its first connections."""

    failures = 0

    def accept(self) -> "tuple[socket.socket, object]":
        if self.failures:
            self.failures -= 1
            raise OSError(errno.EMFILE, "too many open files")
        return super().accept()


def _clients(listener: socket.socket) -> list[socket.socket]:
    listener.bind(("127.0.0.1", 0))
    listener.listen(CLIENTS)
    return [socket.create_connection(listener.getsockname()) for _ in range(CLIENTS)]


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run], ids=["asyncio", "uvloop"])
def test_waiting_connections_are_accepted_within_a_few_iterations(
    run: Callable[[Coroutine[None, None, int]], int],
) -> None:
    async def accept_all(listener: socket.socket) -> int:
        recorder = type("Recorder", (_Recorder,), {})
        accepting = Acceptor(listener, recorder)
        accepting.start(CLIENTS)
        for _ in range(ITERATIONS):
            await asyncio.sleep(0)
        accepting.close()
        return recorder.connections

    with socket.socket() as listener:
        clients = _clients(listener)
        assert run(accept_all(listener)) == CLIENTS
        for client in clients:
            client.close()


def test_accepting_goes_on_after_file_descriptors_were_used_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acceptor, "RETRY_SECONDS", 0.01)
    calls = 0

    async def accept_all(listener: _ExhaustedSocket) -> None:
        nonlocal calls
        made = asyncio.Event()

        class Recorder(_Recorder):
            def connection_made(self, transport: asyncio.BaseTransport) -> None:
                super().connection_made(transport)
                if self.connections == CLIENTS:
                    made.set()

        accepting = Acceptor(listener, Recorder)
        accepting.start(CLIENTS)
        await asyncio.wait_for(made.wait(), 5)
        accepting.close()

    with _ExhaustedSocket() as listener:
        clients = _clients(listener)
        listener.failures = 3
        uvloop.run(accept_all(listener))
        assert listener.failures == 0
        for client in clients:
            client.close()


def test_a_cancelled_server_does_not_watch_its_socket() -> None:
    """The loop would take the next socket with this number for one that it watches already."""

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        """Answer nothing: there is no request."""

    async def is_watched_after_cancellation(listener: socket.socket) -> bool:
        server = Server(uvicorn.Config(application, log_config=None, lifespan="off"))
        serving = asyncio.create_task(server.serve([listener]))
        await server.ready.wait()
        serving.cancel()
        with suppress(asyncio.CancelledError):
            await serving
        return asyncio.get_running_loop().remove_reader(listener)

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        assert not asyncio.run(is_watched_after_cancellation(listener))
