"""Answers of any language model whose service speaks OpenAI's chat completions, in the cloud or on this machine."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Literal, cast, get_args

import anyio

from scrubjay.core.errors import InvalidRequest, Misconfigured
from scrubjay.models.breaker import CircuitBreaker
from scrubjay.models.breakers import Breakers
from scrubjay.models.choices import CompletionChoice
from scrubjay.models.completion import Completion, Message, Usage
from scrubjay.models.endpoint import Endpoint, find_key, web_address
from scrubjay.models.failures import Reason, unavailable
from scrubjay.models.http_client import Chance, Upstream

JsonWay = Literal["json_schema", "json_object", "prompt"]
"""How a service can be asked for JSON, the best way first; the last one is in words alone."""

# How newer models of OpenAI want the limit to be called; others know only max_tokens.
NEWER_LIMIT_FIELD = "max_completion_tokens"


def completer_for(
    choice: CompletionChoice, environment: Mapping[str, str], breakers: Breakers | None = None
) -> "ChatCompleter":
    """The language model that is meant. Nothing is asked yet; a choice that cannot work is `Misconfigured`."""
    key = find_key(choice.api_key, choice.api_key_env, environment)
    if key is None and choice.api_key_env is not None:
        raise Misconfigured(
            f"the language model needs a key, and {choice.api_key_env} is empty",
            hint=f"put the key into {choice.api_key_env}, or leave api_key_env out for a service without keys",
        )
    endpoint = Endpoint(
        provider=choice.model,
        url=f"{web_address(choice.base_url)}/chat/completions",
        fields={"model": choice.model},
        key=key,
        key_hint=f"put the right key into {choice.api_key_env or 'api_key'}",
    )
    breaker = breakers.of("llm", endpoint.provider, endpoint.place) if breakers is not None else None
    return ChatCompleter(endpoint, choice, breaker=breaker)


class ChatCompleter:
    """Satisfies `Completer`.

    Services differ in how they want to be asked for JSON and for the length of an answer. What one refuses is asked in
    the next way, and the way that worked is remembered.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        choice: CompletionChoice,
        *,
        breaker: CircuitBreaker | None = None,
        chance: Chance | None = None,
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
        self._json_ways: Sequence[JsonWay] = get_args(JsonWay)

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        json_schema: Mapping[str, Any] | None = None,
        max_tokens: int,
        timeout: float | None = None,
    ) -> Completion:
        asked = {"messages": [asdict(message) for message in _with_schema(messages, json_schema)]}
        deadline = None if timeout is None else anyio.current_time() + timeout
        limit_field = self._limit_field
        ways: Sequence[JsonWay] = self._json_ways if json_schema is not None else ["prompt"]
        while True:
            wanted = {**asked, limit_field: max_tokens, **_format(ways[0], json_schema)}
            remaining = None if deadline is None else max(0.0, deadline - anyio.current_time())
            try:
                completion = await self._upstream.ask(wanted, self._read, within_seconds=remaining)
            except InvalidRequest as refusal:
                if NEWER_LIMIT_FIELD in refusal.message and limit_field != NEWER_LIMIT_FIELD:
                    limit_field = NEWER_LIMIT_FIELD
                elif len(ways) > 1:
                    ways = ways[1:]
                else:
                    raise
            else:  # not before: what was refused may have been the messages themselves
                self._limit_field = limit_field
                if json_schema is not None:
                    self._json_ways = ways
                return completion

    async def close(self) -> None:
        await self._upstream.close()

    def _read(self, content: bytes) -> Completion:
        """What the model said, and what that took."""
        place = self._upstream.endpoint.place
        try:
            answer: dict[str, Any] = json.loads(content)
            said: Any = answer["choices"][0]["message"]["content"]
            if isinstance(said, list):  # in parts, of which some may be no text
                parts = cast(list[dict[str, Any]], said)
                said = "".join(part["text"] for part in parts if part.get("type") == "text")
            used: dict[str, Any] = answer.get("usage") or {}
            usage = Usage(
                prompt_tokens=_count(used.get("prompt_tokens")), completion_tokens=_count(used.get("completion_tokens"))
            )
            model = str(answer.get("model") or self.model)
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            raise unavailable(
                Reason.BROKEN_ANSWER,
                f"{place} answers with something else than a chat completion",
                hint="see whether base_url is that of an OpenAI-compatible service",
            ) from error
        if not isinstance(said, str) or not said.strip():
            raise unavailable(
                Reason.BROKEN_ANSWER,
                f"{place} answers without a text",
                hint="try another model, or ask for more tokens",
            )
        return Completion(text=said, model=model, usage=usage)


def _with_schema(messages: Sequence[Message], schema: Mapping[str, Any] | None) -> Sequence[Message]:
    """The messages, with the schema told in words too: not every service that takes one holds to it."""
    if schema is None:
        return messages
    words = f"Answer with one JSON object and nothing else. It must fit this JSON Schema: {json.dumps(schema)}"
    if messages and messages[0].role == "system":  # some services take only one such message, and only at the top
        return [replace(messages[0], content=f"{messages[0].content}\n\n{words}"), *messages[1:]]
    return [Message("system", words), *messages]


def _format(way: JsonWay, schema: Mapping[str, Any] | None) -> dict[str, Any]:
    """How JSON is asked for."""
    match way:
        case "json_schema":
            named = {"name": "answer", "strict": True, "schema": schema}
            return {"response_format": {"type": way, "json_schema": named}}
        case "json_object":
            return {"response_format": {"type": way}}
        case "prompt":
            return {}


def _count(given: Any) -> int | None:
    return given if isinstance(given, int) and given >= 0 else None
