"""Detection of a file's format from its content."""

from collections.abc import Callable, Mapping
from datetime import datetime
from itertools import islice
from typing import Any, BinaryIO

from scrubjay.core.errors import InvalidRequest
from scrubjay.features.transfer.claude_code import ClaudeCodeLog
from scrubjay.features.transfer.formats import OwnFormat
from scrubjay.features.transfer.knowledge_graph import KnowledgeGraphFile
from scrubjay.features.transfer.neo import NeoBackup
from scrubjay.features.transfer.openai_conversations import OpenAIConversations
from scrubjay.features.transfer.records import Format
from scrubjay.features.transfer.source_file import ImportSource

# Some formats begin with lines that do not identify them.
MAX_DETECTION_RECORDS = 200

MakeFormat = Callable[[datetime], Format]
_LINES = (NeoBackup, ClaudeCodeLog, KnowledgeGraphFile)


def detect_format(file: BinaryIO, name: str) -> MakeFormat | None:
    """Return a constructor for the file's format, or None for an empty file; raise `InvalidRequest` if unknown."""
    source = ImportSource(file, name)
    if source.begins_with(b"PK\x03\x04"):
        raise InvalidRequest(f"{name} is a zip archive", hint="unpack it and import the file inside")
    is_list = source.begins_with(b"[")
    documents = source.elements() if is_list else source.objects()
    count = 0
    for count, document in islice(documents, MAX_DETECTION_RECORDS):
        if count == 1 and not is_list and OwnFormat.recognises(document):
            return lambda now: OwnFormat()
        if found := _known(document, is_list=is_list):
            return found
    if not count:
        return None
    raise InvalidRequest(
        f"{name} has an unknown format",
        hint="nothing was changed; supported are Scrubjay exports, Neo backups, Claude Code session logs, OpenAI's "
        "conversations.json and the memory file of the MCP reference memory server",
    )


def _known(document: Mapping[str, Any], *, is_list: bool) -> MakeFormat | None:
    for known in (OpenAIConversations,) if is_list else _LINES:
        if known.recognises(document):
            return known
    return None
