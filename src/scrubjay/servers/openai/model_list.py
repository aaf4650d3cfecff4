"""The list of models: `GET /v1/models` and `GET /v1/models/{id}`."""

from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response

from scrubjay.core.errors import ScrubjayError
from scrubjay.servers.openai.completion import OWN_MODELS, Completions
from scrubjay.servers.openai.embeddings import EmbedderSource
from scrubjay.servers.openai.errors import error_response, unknown_model
from scrubjay.servers.openai.wire import ModelEntry, ModelList

# The creation time that Mimo reports; our models have none.
CREATED = 1_700_000_000


class ModelEndpoints:
    """Lists and describes the models."""

    def __init__(self, completions: Completions, embedder: EmbedderSource) -> None:
        self._completions = completions
        self._embedder = embedder

    async def list(self, request: Request) -> Response:
        try:
            found = ModelList(data=[*await self._entries()])
        except ScrubjayError as error:
            return error_response(error)
        return Response(found.model_dump_json(), media_type="application/json")

    async def get(self, request: Request) -> Response:
        name = request.path_params["id"]
        try:
            entry = next((one for one in await self._entries() if one.id == name), None)
            if entry is None:
                raise unknown_model(name)
        except ScrubjayError as error:
            return error_response(error)
        return Response(entry.model_dump_json(), media_type="application/json")

    async def _entries(self) -> Sequence[ModelEntry]:
        embedder = await self._embedder()
        upstream = [name for name in self._completions.models if name not in OWN_MODELS]
        about = f"{upstream[0]} with memory." if upstream else "Answers from memories, with their sources."
        entries = [
            _entry("mimo-polymorphic-1", "mimo", about),
            _entry("scrubjay", "scrubjay", about),
            *(_entry(name, "upstream", about) for name in upstream),
            _entry(embedder.model, "scrubjay", f"Embeddings with {embedder.dimensions} dimensions."),
        ]
        return list({entry.id: entry for entry in reversed(entries)}.values())[::-1]


def _entry(name: str, owner: str, about: str) -> ModelEntry:
    return ModelEntry(id=name, created=CREATED, owned_by=owner, description=about)
