"""Continue a conversation with the language model and recalled memories, or with memories alone."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

from scrubjay.core.ids import new_id
from scrubjay.features.chat.exchange_recorder import Exchange, ExchangeRecorder
from scrubjay.features.chat.memory_context import EMPTY_CONTEXT, MemoryContext, MemoryContextBuilder
from scrubjay.models.chat_proxy import ChatProxy, UnusableChatProxy
from scrubjay.servers.openai import from_memory
from scrubjay.servers.openai.answers import Chunk, CompletionAnswer, recalled_fields, sse_event
from scrubjay.servers.openai.conversation import Conversation
from scrubjay.servers.openai.errors import unknown_model
from scrubjay.servers.openai.forwarded_completion import ForwardedCompletion
from scrubjay.servers.openai.wire import Json, Recalled
from scrubjay.tooling.context import CallContext

OWN_MODELS = ("mimo-polymorphic-1", "scrubjay")


class Completions:
    """Makes the answers to conversations."""

    def __init__(
        self,
        context_builder: MemoryContextBuilder,
        responder: from_memory.MemoryResponder,
        forwarder: ChatProxy | UnusableChatProxy | None,
        recorder: ExchangeRecorder | None,
        *,
        any_model: bool,
    ) -> None:
        """Without a `forwarder`, `responder` answers from memories alone; without a `recorder`, nothing is recorded."""
        self._context_builder = context_builder
        self._responder = responder
        self._forwarder = forwarder
        self._recorder = recorder
        self._any_model = any_model

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models that clients may use."""
        return OWN_MODELS if self._forwarder is None else (*OWN_MODELS, self._forwarder.model)

    @asynccontextmanager
    async def open(self, conversation: Conversation, context: CallContext) -> AsyncGenerator[CompletionAnswer]:
        """Yield the answer. Leaving the context releases its resources and stops the language model."""
        model = self._check_model(conversation.model or OWN_MODELS[0])
        if self._forwarder is None:
            reply = await self._responder(conversation, context)
            yield MemoryCompletion(conversation, reply, model)
            return
        self._context_builder.require_permission(context)
        memory = await self._memory_context(conversation, context)
        records = self._will_record(conversation, context)
        session = conversation.session or (new_id("ses") if records else None)
        recalled = Recalled(
            memories=memory.memories,
            tokens=memory.tokens,
            session_id=session,
            remembers=records,
            degraded=memory.degraded,
        )
        upstream_model = self._forwarder.model if model in OWN_MODELS else model
        async with self._forwarder.open(conversation.upstream_body(upstream_model, memory.text)) as forwarded:

            def record(answer: str) -> None:
                if records and self._recorder is not None and conversation.prompt:
                    prompt = conversation.prompt
                    self._recorder.start_recording(
                        Exchange(prompt=prompt, answer=answer, session_id=session, context=context)
                    )

            yield ForwardedCompletion(forwarded, recalled, record)

    async def _memory_context(self, conversation: Conversation, context: CallContext) -> MemoryContext:
        if not conversation.options.recall:
            return EMPTY_CONTEXT
        return await self._context_builder(
            conversation.question,
            context,
            session=conversation.session,
            project=conversation.options.project,
            known_prompts=conversation.user_texts,
        )

    def _check_model(self, model: str) -> str:
        if model in self.models or (self._forwarder is not None and self._any_model):
            return model
        raise unknown_model(model)

    def _will_record(self, conversation: Conversation, context: CallContext) -> bool:
        requested = conversation.options.remember and bool(conversation.question)
        return requested and self._recorder is not None and self._recorder.may_record(context)


class MemoryCompletion:
    """Implements `CompletionAnswer` with a reply that was made from memories."""

    def __init__(self, conversation: Conversation, reply: from_memory.MemoryReply, model: str) -> None:
        self._conversation = conversation
        self._reply = reply
        self._model = model
        self._choices = conversation.request.n or 1
        # The exchange is not recorded: its answer only repeats memories.
        self.recalled = Recalled(memories=reply.memories, session_id=conversation.session, remembers=False)

    async def complete(self) -> Json:
        usage = await from_memory.usage_of(self._conversation, self._reply, self._choices)
        return {
            **from_memory.completion_body(self._reply, self._model, usage, self._choices),
            "scrubjay": recalled_fields(self.recalled),
        }

    async def chunks(self) -> AsyncIterator[Chunk]:
        usage = None
        if self._conversation.wants_usage:
            usage = await from_memory.usage_of(self._conversation, self._reply, self._choices)
        for index, piece in enumerate(from_memory.completion_chunks(self._reply, self._model, usage, self._choices)):
            data = piece if index else {**piece, "scrubjay": recalled_fields(self.recalled)}
            yield Chunk(sse_event(data), data)
