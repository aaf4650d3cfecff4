"""Which program wrote a file, told by what is in it."""

from collections.abc import Callable, Mapping
from datetime import datetime
from itertools import islice
from typing import Any, BinaryIO

from scrubjay.core.errors import InvalidRequest
from scrubjay.features.transfer.claude_code import ClaudeCodeLog
from scrubjay.features.transfer.formats import OwnFormat
from scrubjay.features.transfer.knowledge_graph import KnowledgeGraph
from scrubjay.features.transfer.neo import NeoBackup
from scrubjay.features.transfer.openai_conversations import OpenAIConversations
from scrubjay.features.transfer.records import Format
from scrubjay.features.transfer.source_file import SourceFile

# Some programs begin with lines that could be anybody's.
LOOKED_AT = 200

MakeFormat = Callable[[datetime], Format]
_LINES = (NeoBackup, ClaudeCodeLog, KnowledgeGraph)


def recognise(file: BinaryIO, name: str) -> MakeFormat | None:
    """What reads this file; None when there is nothing in it. `InvalidRequest` when nobody knows it."""
    source = SourceFile(file, name)
    if source.begins_with(b"PK\x03\x04"):
        raise InvalidRequest(f"{name} is a zip archive", hint="unpack it, and give the file of memories that is in it")
    is_list = source.begins_with(b"[")
    documents = source.elements() if is_list else source.objects()
    looked_at = 0
    for looked_at, document in islice(documents, LOOKED_AT):
        if looked_at == 1 and not is_list and OwnFormat.recognises(document):
            return lambda now: OwnFormat()
        if found := _known(document, is_list=is_list):
            return found
    if not looked_at:
        return None
    raise InvalidRequest(
        f"{name} is no file of memories that is known here",
        hint="nothing was changed; known are our own exports, Neo's backups, Claude Code's session logs, OpenAI's "
        "conversations.json and the memory file of MCP's reference memory server",
    )


def _known(document: Mapping[str, Any], *, is_list: bool) -> MakeFormat | None:
    for known in (OpenAIConversations,) if is_list else _LINES:
        if known.recognises(document):
            return known
    return None
