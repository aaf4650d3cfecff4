"""Read the configuration of a sentence-transformers ONNX folder."""

import hashlib
import json
import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, cast

from scrubjay.core.errors import Misconfigured

Pooling = Literal["mean", "cls"]

_MODEL_FILES = ("model.onnx", "onnx/model.onnx")
_TOKENIZER = "tokenizer.json"
_MODULES = "modules.json"
_DEFAULT_MAX_TOKENS = 512
_FOLDER_HINT = (
    "name the folder of a sentence-transformers model with model.onnx (or onnx/model.onnx), tokenizer.json and "
    "config.json; `optimum-cli export onnx --model NAME FOLDER` makes one"
)
_LONGEST_FOLDER_NAME = 60
# The fingerprint reads this many samples of this many bytes, so that a large model costs no second of hashing.
_SAMPLES, _SAMPLE_BYTES = 64, 4096


@dataclass(frozen=True, slots=True)
class OnnxFolder:
    """The files and the pooling of one model."""

    name: str
    """Folder name and a fingerprint of its files: vectors of two models never share a name."""
    model: Path
    tokenizer: Path
    dimensions: int
    pooling: Pooling
    max_tokens: int


@lru_cache(maxsize=8)
def read_folder(path: str) -> OnnxFolder:
    """Return what a folder contains, or raise `Misconfigured` with the missing or unsupported part.

    The weights are not loaded. A folder is read once per process, because a loaded model does not change either.
    """
    # Not Path.expanduser, which raises where there is no home directory.
    folder = Path(os.path.expanduser(path))  # noqa: PTH111
    if not folder.is_dir():
        raise Misconfigured(f"there is no folder {str(folder)[:200]!r}", hint=_FOLDER_HINT)
    try:
        model = next((file for name in _MODEL_FILES if (file := folder / name).is_file()), None)
        if model is None:
            raise _missing(folder, " or ".join(_MODEL_FILES))
        tokenizer = folder / _TOKENIZER
        if not tokenizer.is_file():
            raise _missing(folder, _TOKENIZER)
        config = _object(folder / "config.json")
        pooling, size = _pooling(folder)
        dimensions = size or config.get("hidden_size")
        if not isinstance(dimensions, int) or dimensions < 1:
            raise Misconfigured(
                f"{folder.name[:80]} does not state the length of its vectors",
                hint="config.json needs hidden_size, or 1_Pooling/config.json word_embedding_dimension",
            )
        return OnnxFolder(
            name=f"{folder.resolve().name[:_LONGEST_FOLDER_NAME]}-{_fingerprint(folder, model)}",
            model=model,
            tokenizer=tokenizer,
            dimensions=dimensions,
            pooling=pooling,
            max_tokens=_max_tokens(folder, config),
        )
    except OSError as error:
        raise Misconfigured(f"{folder.name[:80]} cannot be read ({error.strerror})", hint=_FOLDER_HINT) from error


def _missing(folder: Path, name: str) -> Misconfigured:
    return Misconfigured(f"{folder.name[:80]} has no {name}", hint=_FOLDER_HINT)


def _pooling(folder: Path) -> tuple[Pooling, int | None]:
    """Return the pooling and the vector length; without modules.json, sentence-transformers takes the mean."""
    if not (folder / _MODULES).is_file():
        return "mean", None
    pooling: tuple[Pooling, int | None] = ("mean", None)
    for module in _list(folder / _MODULES):
        kind = str(module.get("type", "")).rpartition(".")[2]
        if kind == "Pooling":
            pooling = _pooling_of(folder.name, _object(folder / str(module.get("path", "")) / "config.json"))
        elif kind not in ("Transformer", "Normalize"):  # vectors are always normalized here
            raise Misconfigured(
                f"{folder.name[:80]} has a module {kind[:40]!r}, which is not supported",
                hint="use a model of Transformer, Pooling and Normalize, or serve it with an OpenAI-compatible server",
            )
    return pooling


def _pooling_of(name: str, config: dict[str, Any]) -> tuple[Pooling, int | None]:
    modes = {
        key.removeprefix("pooling_mode_") for key, value in config.items() if key != "pooling_mode" and value is True
    }
    modes &= {"cls_token", "mean_tokens", "max_tokens", "mean_sqrt_len_tokens", "weightedmean_tokens", "lasttoken"}
    mode = config.get("pooling_mode")  # since sentence-transformers 5
    if isinstance(mode, str):
        modes = {{"cls": "cls_token", "mean": "mean_tokens"}.get(mode, mode)}
    size = config.get("word_embedding_dimension") or config.get("embedding_dimension")
    if modes == {"mean_tokens"}:
        return "mean", size
    if modes == {"cls_token"}:
        return "cls", size
    raise Misconfigured(
        f"{name[:80]} pools by {', '.join(sorted(modes)) or 'nothing'}, which is not supported",
        hint="use a model with mean or cls pooling",
    )


def _max_tokens(folder: Path, config: dict[str, Any]) -> int:
    limits = [
        config.get("max_position_embeddings"),
        *(
            _object(folder / name).get(key) if (folder / name).is_file() else None
            for name, key in (
                ("sentence_bert_config.json", "max_seq_length"),
                ("tokenizer_config.json", "model_max_length"),
            )
        ),
    ]
    # A tokenizer without a limit states 10**30.
    stated = [limit for limit in limits if isinstance(limit, int) and 2 < limit < 1_000_000]
    return min(stated, default=_DEFAULT_MAX_TOKENS)


def _json(path: Path) -> Any:
    if not path.is_file():
        raise _missing(path.parent, path.name)
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise Misconfigured(f"{path.name} of {path.parent.name[:80]} is not JSON", hint=_FOLDER_HINT) from error


def _object(path: Path) -> dict[str, Any]:
    read = _json(path)
    if not isinstance(read, dict):
        raise Misconfigured(f"{path.name} of {path.parent.name[:80]} is not a JSON object", hint=_FOLDER_HINT)
    return cast(dict[str, Any], read)


def _list(path: Path) -> list[dict[str, Any]]:
    read = _json(path)
    if not isinstance(read, list) or not all(isinstance(item, dict) for item in cast(list[Any], read)):
        raise Misconfigured(f"{path.name} of {path.parent.name[:80]} is not a list of modules", hint=_FOLDER_HINT)
    return cast(list[dict[str, Any]], read)


def _fingerprint(folder: Path, model: Path) -> str:
    """Return eight hexadecimal digits over the configuration and samples of the weights."""
    digest = hashlib.sha256()
    for name in ("config.json", _MODULES, "1_Pooling/config.json", "sentence_bert_config.json"):
        digest.update((folder / name).read_bytes() if (folder / name).is_file() else b"")
        digest.update(b"\0")
    for path in (model, model.with_name(f"{model.name}_data"), folder / _TOKENIZER):
        if not path.is_file():
            continue
        size = path.stat().st_size
        digest.update(f"{size}\0".encode())
        with path.open("rb") as file:
            for sample in range(_SAMPLES):
                file.seek(sample * max(size - _SAMPLE_BYTES, 0) // (_SAMPLES - 1))
                digest.update(file.read(_SAMPLE_BYTES))
    return digest.hexdigest()[:8]
