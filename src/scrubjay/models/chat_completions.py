"""Completions from any service with OpenAI's chat completions API, in the cloud or local."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Literal, cast, get_args

import anyio

from scrubjay.core.errors import InvalidRequest, Misconfigured
from scrubjay.models.breaker import CircuitBreaker
from scrubjay.models.breakers import BreakerRegistry
from scrubjay.models.choices import CompletionChoice
from scrubjay.models.completion import Completion, Prompt, PromptMessage, Usage
from scrubjay.models.endpoint import ServiceEndpoint, find_key, web_address
from scrubjay.models.failures import FailureReason, unavailable
from scrubjay.models.http_client import RetryTiming, Upstream

JsonMode = Literal["json_schema", "json_object", "prompt"]
"""Ways to request JSON, best first; `prompt` only asks in words."""

# Newer OpenAI models require this name of the limit; other services know only max_tokens.
NEWER_LIMIT_FIELD = "max_completion_tokens"


def completer_for(
    choice: CompletionChoice, environment: Mapping[str, str], breakers: BreakerRegistry | None = None
) -> "ChatCompleter":
    """Return the chosen language model without a request; raise `Misconfigured` if the choice cannot work."""
    key = find_key(choice.api_key, choice.api_key_env, environment)
    if key is None and choice.api_key_env is not None:
        raise Misconfigured(
            f"the language model needs a key, and {choice.api_key_env} is empty",
            hint=f"put the key into {choice.api_key_env}, or leave api_key_env out for a service without keys",
        )
    endpoint = ServiceEndpoint(
        provider=choice.model,
        url=f"{web_address(choice.base_url)}/chat/completions",
        fields={"model": choice.model},
        key=key,
        key_hint=f"put the right key into {choice.api_key_env or 'api_key'}",
    )
    breaker = breakers.of("llm", endpoint.provider, endpoint.label) if breakers is not None else None
    return ChatCompleter(endpoint, choice, breaker=breaker)


class ChatCompleter:
    """Implements `Completer`.

    Services differ in how JSON and the maximum length are requested. A rejected form is replaced by the next one, and
    the form that worked is remembered.
    """

    def __init__(
        self,
        endpoint: ServiceEndpoint,
        choice: CompletionChoice,
        *,
        breaker: CircuitBreaker | None = None,
        chance: RetryTiming | None = None,
    ) -> None:
        self.model = choice.model
        self._upstream = Upstream(
            endpoint,
            timeout_seconds=choice.timeout_seconds,
            retries=choice.retries,
            concurrency=choice.concurrency,
            breaker=breaker,
            chance=chance,
        )
        self._limit_field: str = "max_tokens"
        self._json_modes: Sequence[JsonMode] = get_args(JsonMode)

    async def complete(self, prompt: Prompt) -> Completion:
        schema = prompt.json_schema
        messages = {"messages": [asdict(message) for message in _with_schema(prompt.messages, schema)]}
        deadline = None if prompt.timeout is None else anyio.current_time() + prompt.timeout
        limit_field = self._limit_field
        modes: Sequence[JsonMode] = self._json_modes if schema is not None else ["prompt"]
        while True:
            body = {**messages, limit_field: prompt.max_tokens, **_format(modes[0], schema)}
            remaining = None if deadline is None else max(0.0, deadline - anyio.current_time())
            try:
                completion = await self._upstream.ask(body, self._read, within_seconds=remaining)
            except InvalidRequest as refusal:
                if NEWER_LIMIT_FIELD in refusal.message and limit_field != NEWER_LIMIT_FIELD:
                    limit_field = NEWER_LIMIT_FIELD
                elif len(modes) > 1:
                    modes = modes[1:]
                else:
                    raise
            else:  # only after success: the messages themselves may have been rejected
                self._limit_field = limit_field
                if schema is not None:
                    self._json_modes = modes
                return completion

    async def close(self) -> None:
        await self._upstream.close()

    def _read(self, content: bytes) -> Completion:
        """Parse a response into a completion."""
        label = self._upstream.endpoint.label
        try:
            answer: dict[str, Any] = json.loads(content)
            text: Any = answer["choices"][0]["message"]["content"]
            if isinstance(text, list):  # content parts, not all of them text
                parts = cast(list[dict[str, Any]], text)
                text = "".join(part["text"] for part in parts if part.get("type") == "text")
            used: dict[str, Any] = answer.get("usage") or {}
            usage = Usage(
                prompt_tokens=_count(used.get("prompt_tokens")), completion_tokens=_count(used.get("completion_tokens"))
            )
            model = str(answer.get("model") or self.model)
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            raise unavailable(
                FailureReason.BROKEN_ANSWER,
                f"{label} did not return a chat completion",
                hint="check that base_url is an OpenAI-compatible service",
            ) from error
        if not isinstance(text, str) or not text.strip():
            raise unavailable(
                FailureReason.BROKEN_ANSWER,
                f"{label} returned no text",
                hint="try another model, or raise the token limit",
            )
        return Completion(text=text, model=model, usage=usage)


def _with_schema(messages: Sequence[PromptMessage], schema: Mapping[str, Any] | None) -> Sequence[PromptMessage]:
    """Return the messages with the schema in words, because not every service enforces a schema that it accepts."""
    if schema is None:
        return messages
    words = f"Answer with one JSON object and nothing else. It must fit this JSON Schema: {json.dumps(schema)}"
    if messages and messages[0].role == "system":  # some services accept only one system message, and only first
        return [replace(messages[0], content=f"{messages[0].content}\n\n{words}"), *messages[1:]]
    return [PromptMessage("system", words), *messages]


def _format(mode: JsonMode, schema: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the request fields of a JSON mode."""
    match mode:
        case "json_schema":
            named = {"name": "answer", "strict": True, "schema": schema}
            return {"response_format": {"type": mode, "json_schema": named}}
        case "json_object":
            return {"response_format": {"type": mode}}
        case "prompt":
            return {}


def _count(given: Any) -> int | None:
    return given if isinstance(given, int) and given >= 0 else None
