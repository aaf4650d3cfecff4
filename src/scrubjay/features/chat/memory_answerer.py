"""Answer questions without a language model, from memories with numbered sources."""

from dataclasses import dataclass

from scrubjay.features.chat.memory_context import MemoryReference
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.dispatcher import Dispatcher

NOTHING_REMEMBERED = "Nothing is remembered about this."


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryAnswer:
    """An answer composed from memories."""

    text: str
    memories: list[MemoryReference]


class MemoryAnswerer:
    """Answers questions with one tool. The same memories give the same answer."""

    def __init__(self, dispatcher: Dispatcher, tool: str) -> None:
        self._dispatcher = dispatcher
        self._tool = tool

    async def __call__(
        self, question: str, context: CallContext, *, session: str | None = None, project: str | None = None
    ) -> MemoryAnswer:
        arguments = {"query": question, "context_id": session, "project": project}
        given = {name: value for name, value in arguments.items() if value is not None}
        answer = (await self._dispatcher.call(self._tool, given, context)).model_dump(mode="json")
        if answer["synthesis"] is None:
            return MemoryAnswer(text=NOTHING_REMEMBERED, memories=[])
        cited = answer["citations"]
        sources = "\n".join(f"[{one['number']}] {one['id']}, {str(one['at'])[:10]}" for one in cited)
        notes = "".join(f"\nNote: {note}" for note in answer["notes"])
        return MemoryAnswer(
            text=f"{answer['synthesis']}\n\nSources:\n{sources}{notes}",
            memories=[MemoryReference(id=one["id"], score=one["score"]) for one in cited],
        )
