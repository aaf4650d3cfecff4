"""Changes of files in watched folders, for listeners in other features."""

from collections.abc import Callable


class FileChanges:
    """Calls each subscriber with the path and the kind of change: created, modified or deleted."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[str, str], None]] = []

    def subscribe(self, listener: Callable[[str, str], None]) -> None:
        """Call this for every change; it must neither wait nor fail."""
        self._listeners.append(listener)

    def notify(self, path: str, kind: str) -> None:
        """Report one change."""
        for listener in self._listeners:
            listener(path, kind)
