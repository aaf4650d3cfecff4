"""Where the contents of an index can be read."""

from scrubjay.code_index.models import Snapshot
from scrubjay.code_index.store import IndexRecord


def place_of(record: IndexRecord) -> Snapshot:
    """The place alone: it lists no files."""
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
