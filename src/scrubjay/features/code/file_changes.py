"""Changes of files in watched folders, for listeners in other features."""

from collections.abc import Callable

Listener = Callable[[str, str, bool], None]
"""Takes the path, the kind of change (created, modified or deleted), and whether callers with a key must not see it."""


class FileChanges:
    """Calls each subscriber with every change."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []

    def subscribe(self, listener: Listener) -> None:
        """Call this for every change; it must neither wait nor fail."""
        self._listeners.append(listener)

    def notify(self, path: str, kind: str, owner_only: bool) -> None:
        """Report one change."""
        for listener in self._listeners:
            listener(path, kind, owner_only)
