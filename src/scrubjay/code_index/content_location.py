"""The location from which the contents of an index are read."""

from scrubjay.code_index.models import Snapshot
from scrubjay.code_index.store import IndexRecord


def contents_of(record: IndexRecord) -> Snapshot:
    """Return a snapshot that lists no files, for reading the contents of an index."""
    details = record.details
    return Snapshot(
        root=record.root,
        rev=record.rev,
        commit=record.commit,
        files=(),
        is_git=details.get("is_git", True),
        from_objects=details.get("from_objects", False),
        repositories=details.get("repositories", ()),
    )
