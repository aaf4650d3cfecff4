"""Embed texts with a sentence-transformers ONNX folder that the user names, on onnxruntime."""

import importlib
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

from scrubjay.core.lazy import lazy_module
from scrubjay.models.failures import FailureReason, unavailable
from scrubjay.models.onnx_folder import OnnxFolder

if TYPE_CHECKING:
    import numpy as np
    import tokenizers
else:
    np = lazy_module("numpy")
    tokenizers = lazy_module("tokenizers")

INSTALL_HINT = "install it with: pip install 'scrubjay[onnx]'"
# Texts that are embedded between two moments at which the work can be cancelled.
_TEXTS_AT_ONCE = 16
# A text takes milliseconds: more threads would wait for each other longer than they work.
_MAX_THREADS = 4


class OnnxEmbedder:
    """Loads the model in a worker thread at first use."""

    def __init__(self, name: str, folder: OnnxFolder) -> None:
        self.model = name
        self.dimensions = folder.dimensions
        self._folder = folder
        self._encoder: _Encoder | None = None
        self._loading = anyio.Lock()

    async def embed(self, texts: Sequence[str]) -> Sequence[bytes]:
        if self._encoder is None:
            async with self._loading:
                if self._encoder is None:
                    self._encoder = await anyio.to_thread.run_sync(_Encoder, self._folder)
        vectors: list[bytes] = []
        for begin in range(0, len(texts), _TEXTS_AT_ONCE):
            some = texts[begin : begin + _TEXTS_AT_ONCE]
            vectors += await anyio.to_thread.run_sync(self._encoder.encode, some)
        return vectors

    async def close(self) -> None:
        """Do nothing: the model holds no connection."""


class _Encoder:
    """The loaded tokenizer and model."""

    def __init__(self, folder: OnnxFolder) -> None:
        try:
            runtime: Any = importlib.import_module("onnxruntime")
        except ImportError as error:
            raise unavailable(
                FailureReason.NOT_INSTALLED, f"ONNX models need {error.name}, which is not installed", hint=INSTALL_HINT
            ) from error
        self._folder = folder
        try:
            self._tokenizer: Any = tokenizers.Tokenizer.from_file(str(folder.tokenizer))
            self._tokenizer.no_padding()
            self._tokenizer.enable_truncation(folder.max_tokens)
            options = runtime.SessionOptions()
            options.intra_op_num_threads = min(_MAX_THREADS, os.cpu_count() or 1)
            # Threads that spin while they wait would take whole cores from everything else.
            options.add_session_config_entry("session.intra_op.allow_spinning", "0")
            options.log_severity_level = 3
            self._session = runtime.InferenceSession(str(folder.model), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # both libraries raise plain exceptions of their own
            raise unavailable(
                FailureReason.DAMAGED,
                f"{folder.name} cannot be loaded ({str(error)[:200]})",
                hint="export or download the model again; it needs model.onnx and tokenizer.json of one version",
            ) from error
        self._inputs = [given.name for given in self._session.get_inputs()]
        if unknown := sorted(set(self._inputs) - {"input_ids", "attention_mask", "token_type_ids", "position_ids"}):
            raise self._unsuitable(f"it requires an input {unknown[0]!r}")
        outputs = {made.name: len(made.shape or ()) for made in self._session.get_outputs()}
        # An export by sentence-transformers contains the pooling, one by optimum only the tokens' vectors.
        self._output = next(
            (name for name, rank in outputs.items() if name == "sentence_embedding" and rank == 2),
            next((name for name, rank in outputs.items() if rank == 3), None),
        )
        if self._output is None:
            raise self._unsuitable("it has no output with one vector per token")
        self._is_pooled = outputs[self._output] == 2

    def encode(self, texts: Sequence[str]) -> list[bytes]:
        # One by one: in a batch of a quantized model a vector would depend on its neighbours, and padding takes the
        # time that batching saves.
        return [self._encode(self._tokenizer.encode(text)) for text in texts]

    def _encode(self, encoded: Any) -> bytes:
        if all(encoded.special_tokens_mask):
            return b""
        ids = np.array([encoded.ids], np.int64)
        given = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
            "position_ids": np.arange(ids.shape[1], dtype=np.int64)[None],
        }
        (made,) = self._session.run([self._output], {name: given[name] for name in self._inputs})
        pooled = made[0] if self._is_pooled else made[0, 0] if self._folder.pooling == "cls" else made[0].mean(axis=0)
        if pooled.shape != (self._folder.dimensions,):
            raise unavailable(
                FailureReason.WRONG_DIMENSIONS,
                f"{self._folder.name} returned {pooled.size} dimensions instead of {self._folder.dimensions}",
                hint="config.json and model.onnx belong to different models",
                found=int(pooled.size),
            )
        vector = pooled.astype(np.float64)
        length = float(np.linalg.norm(vector))
        return (vector / length).astype("<f2").tobytes() if length > 0 and np.isfinite(length) else b""

    def _unsuitable(self, problem: str) -> Exception:
        return unavailable(
            FailureReason.DAMAGED,
            f"{self._folder.name} is not a sentence embedding model: {problem}",
            hint="export it with `optimum-cli export onnx --task feature-extraction`",
        )
