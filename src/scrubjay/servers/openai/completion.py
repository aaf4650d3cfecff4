"""Continuing a conversation: with the language model and what is remembered, or out of what is remembered alone."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

from scrubjay.core.ids import new_id
from scrubjay.features.chat.exchange_recorder import Exchange, Keeper
from scrubjay.features.chat.recall_context import NOTHING, Recall, Remembered
from scrubjay.models.chat_proxy import Forwarder, UnusableForwarder
from scrubjay.servers.openai import from_memory
from scrubjay.servers.openai.answers import Answer, Chunk, event, told
from scrubjay.servers.openai.conversation import Conversation
from scrubjay.servers.openai.errors import unknown_model
from scrubjay.servers.openai.stream_tap import Listener
from scrubjay.servers.openai.wire import Json, Recalled
from scrubjay.tooling.context import CallContext

OWN_MODELS = ("mimo-polymorphic-1", "scrubjay")


class Completions:
    """Opens answers."""

    def __init__(
        self,
        recall: Recall,
        out_of_memory: from_memory.FromMemory,
        forwarder: Forwarder | UnusableForwarder | None,
        keeper: Keeper | None,
        *,
        any_model: bool,
    ) -> None:
        """Without a forwarder there is no language model; without a keeper nothing is remembered."""
        self._recall = recall
        self._out_of_memory = out_of_memory
        self._forwarder = forwarder
        self._keeper = keeper
        self._any_model = any_model

    @property
    def models(self) -> tuple[str, ...]:
        """The names of models that answer."""
        return OWN_MODELS if self._forwarder is None else (*OWN_MODELS, self._forwarder.model)

    @asynccontextmanager
    async def open(self, conversation: Conversation, context: CallContext) -> AsyncGenerator[Answer]:
        """The answer. What it needs is let go, and the language model stops, when this is left."""
        model = self._checked(conversation.model or OWN_MODELS[0])
        if self._forwarder is None:
            said = await self._out_of_memory(conversation, context)
            yield AnswerFromMemory(conversation, said, model)
            return
        self._recall.refuse_closed(context)
        remembered = await self._remembered(conversation, context)
        keeps = self._keeps(conversation, context)
        session = conversation.session or (new_id("ses") if keeps else None)
        recalled = Recalled(
            memories=remembered.memories,
            tokens=remembered.tokens,
            session_id=session,
            remembers=keeps,
            degraded=remembered.degraded,
        )
        asked = self._forwarder.model if model in OWN_MODELS else model
        async with self._forwarder.open(conversation.passed_on(asked, remembered.text)) as forwarded:

            def keep(answer: str) -> None:
                if keeps and self._keeper is not None and conversation.prompt:
                    prompt = conversation.prompt
                    self._keeper.keep(Exchange(prompt=prompt, answer=answer, session_id=session, context=context))

            yield Listener(forwarded, recalled, keep)

    async def _remembered(self, conversation: Conversation, context: CallContext) -> Remembered:
        if not conversation.wishes.recall:
            return NOTHING
        return await self._recall(
            conversation.question,
            context,
            session=conversation.session,
            project=conversation.wishes.project,
            known=conversation.said_by_user,
        )

    def _checked(self, model: str) -> str:
        if model in self.models or (self._forwarder is not None and self._any_model):
            return model
        raise unknown_model(model)

    def _keeps(self, conversation: Conversation, context: CallContext) -> bool:
        wished = conversation.wishes.remember and bool(conversation.question)
        return wished and self._keeper is not None and self._keeper.may_keep(context)


class AnswerFromMemory:
    """Satisfies `Answer` with what was found already."""

    def __init__(self, conversation: Conversation, said: from_memory.Said, model: str) -> None:
        self._conversation = conversation
        self._said = said
        self._model = model
        self._choices = conversation.request.n or 1
        # An answer that is made of memories is not one more of them.
        self.recalled = Recalled(memories=said.memories, session_id=conversation.session, remembers=False)

    async def whole(self) -> Json:
        usage = await from_memory.usage_of(self._conversation, self._said, self._choices)
        return {**from_memory.whole(self._said, self._model, usage, self._choices), "scrubjay": told(self.recalled)}

    async def chunks(self) -> AsyncIterator[Chunk]:
        usage = None
        if self._conversation.wants_usage:
            usage = await from_memory.usage_of(self._conversation, self._said, self._choices)
        for place, piece in enumerate(from_memory.pieces(self._said, self._model, usage, self._choices)):
            data = piece if place else {**piece, "scrubjay": told(self.recalled)}
            yield Chunk(event(data), data)
