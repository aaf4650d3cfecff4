"""The modules that a forked process starts with."""

import sys
from multiprocessing.connection import Connection

from tests.processes import FORKED, LOADED


def tell_what_is_missing(sender: Connection) -> None:
    sender.send([name for name in LOADED if name not in sys.modules])


def test_the_fork_server_has_loaded_the_program() -> None:
    receiver, sender = FORKED.Pipe(duplex=False)
    with receiver, sender:
        process = FORKED.Process(target=tell_what_is_missing, args=(sender,))
        process.start()
        assert receiver.poll(60)
        assert receiver.recv() == []
        process.join(60)
