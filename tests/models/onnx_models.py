"""Make a small sentence-transformers ONNX folder, and compute its vectors a second time in numpy."""

import importlib
import json
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer, models, pre_tokenizers, processors

WORDS = ("[UNK]", "[CLS]", "[SEP]", "cat", "sleeps", "on", "the", "mat", "dog", "barks")
HIDDEN = 8
MAX_TOKENS = 6
_RANDOM = np.random.default_rng(7)
TABLE = _RANDOM.normal(size=(len(WORDS), HIDDEN)).astype(np.float32)
KINDS = _RANDOM.normal(size=(2, HIDDEN)).astype(np.float32)
WEIGHT = _RANDOM.normal(size=(HIDDEN, HIDDEN)).astype(np.float32)


def make_folder(
    folder: Path, *, pooling: str | None = "mean", nested: bool = False, kinds: bool = True, pooled: bool = False
) -> Path:
    """Write a model: `tanh((TABLE[ids] + KINDS[types]) @ WEIGHT)` for each token.

    `pooled` makes a graph that returns the mean itself; `pooling=None` writes no modules.json.
    """
    folder.mkdir(parents=True, exist_ok=True)
    model = folder / ("onnx/model.onnx" if nested else "model.onnx")
    model.parent.mkdir(exist_ok=True)
    model.write_bytes(_graph(kinds=kinds, pooled=pooled))
    tokenizer: Any = Tokenizer(models.WordLevel({word: index for index, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    _write(folder / "config.json", {"hidden_size": HIDDEN, "max_position_embeddings": 512})
    _write(folder / "sentence_bert_config.json", {"max_seq_length": MAX_TOKENS})
    _write(folder / "tokenizer_config.json", {"model_max_length": 10**30})
    if pooling is not None:
        kinds_of_modules = {"": "Transformer", "1_Pooling": "Pooling", "2_Normalize": "Normalize"}
        modules = [
            {"path": path, "type": f"sentence_transformers.models.{kind}"} for path, kind in kinds_of_modules.items()
        ]
        _write(folder / "modules.json", modules)
        (folder / "1_Pooling").mkdir(exist_ok=True)
        modes = {
            f"pooling_mode_{mode}": mode.startswith(pooling) for mode in ("cls_token", "mean_tokens", "max_tokens")
        }
        _write(folder / "1_Pooling" / "config.json", {"word_embedding_dimension": HIDDEN, **modes})
    return folder


def reference(text: str, *, pooling: str = "mean", kinds: bool = True) -> "np.ndarray[Any, np.dtype[np.float32]]":
    """Return the normalized vector of a text."""
    ids = [WORDS.index(word) if word in WORDS else 0 for word in text.split()][: MAX_TOKENS - 2]
    tokens = np.tanh((TABLE[[1, *ids, 2]] + (KINDS[0] if kinds else 0)) @ WEIGHT)
    vector = tokens[0] if pooling == "cls" else tokens.mean(axis=0)
    return vector / np.linalg.norm(vector)


def _write(path: Path, value: object) -> None:
    path.write_text(json.dumps(value), encoding="utf-8")


def _graph(*, kinds: bool, pooled: bool) -> bytes:
    onnx: Any = importlib.import_module("onnx")
    helper: Any = importlib.import_module("onnx.helper")
    arrays: Any = importlib.import_module("onnx.numpy_helper")
    inputs = ["input_ids", "attention_mask", *(["token_type_ids"] if kinds else [])]
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["words"])]
    if kinds:
        nodes.append(helper.make_node("Gather", ["kinds", "token_type_ids"], ["kind"]))
        nodes.append(helper.make_node("Add", ["words", "kind"], ["sum"]))
    nodes.append(helper.make_node("MatMul", ["sum" if kinds else "words", "weight"], ["product"]))
    nodes.append(helper.make_node("Tanh", ["product"], ["last_hidden_state"]))
    outputs = [("last_hidden_state", ["texts", "tokens", HIDDEN])]
    if pooled:
        nodes.append(helper.make_node("ReduceMean", ["last_hidden_state", "axes"], ["sentence_embedding"], keepdims=0))
        outputs.append(("sentence_embedding", ["texts", HIDDEN]))
    constants = {"table": TABLE, "kinds": KINDS, "weight": WEIGHT, "axes": np.array([1], np.int64)}
    graph = helper.make_graph(
        nodes,
        "small",
        [helper.make_tensor_value_info(name, onnx.TensorProto.INT64, ["texts", "tokens"]) for name in inputs],
        [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape) for name, shape in outputs],
        [arrays.from_array(value, name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    return model.SerializeToString()
