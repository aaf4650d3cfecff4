"""Descriptions of model fields for help texts and reference pages."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

Schema = Mapping[str, Any]

_WORDS = {"string": "text", "integer": "integer", "number": "number", "boolean": "true or false", "object": "object"}
_TEXT_FORMATS = {"date-time": "time", "date": "date", "path": "path", "password": "secret"}


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldNote:
    """A field of a schema, with references resolved and null removed from its types."""

    name: str
    description: str
    required: bool
    default: Any
    """None also for a nullable field and for a default factory."""
    schema: Schema
    item: Schema | None
    """Schema of the list entries; None for other types."""
    nullable: bool

    @property
    def type(self) -> str:
        return type_words(self.schema) if self.item is None else f"list of {type_words(self.item)}"

    @property
    def choices(self) -> Sequence[Any]:
        """Return the allowed values of the field or its entries; empty when unrestricted."""
        schema = self.schema if self.item is None else self.item
        return [schema["const"]] if "const" in schema else schema.get("enum", [])

    @property
    def limits(self) -> Sequence[str]:
        limits = list(_limits(self.schema))
        if self.item is not None:
            limits += [f"each {limit}" for limit in _limits(self.item)]
        return limits


def field_notes(schema: Schema) -> Sequence[FieldNote]:
    """Return the fields of a model's JSON schema in declaration order."""
    definitions: Schema = schema.get("$defs", {})
    model, _ = _resolved(schema, definitions)  # a model that contains itself is a reference to itself
    return [note for note, _ in _notes(model, definitions)]


def nested_field_notes(schema: Schema) -> Sequence[FieldNote]:
    """Return all fields, including nested ones such as `memories[].content`. Recursive models are not repeated."""
    definitions: Schema = schema.get("$defs", {})
    model, names = _resolved(schema, definitions)
    return list(_nested(model, definitions, "", names))


def type_words(schema: Schema) -> str:
    """Return the type in words."""
    if "const" in schema or "enum" in schema:
        choices = [schema["const"]] if "const" in schema else schema["enum"]
        return f"one of {', '.join(map(str, choices))}" if len(choices) > 1 else str(choices[0])
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(type_words(variant) for variant in schema["anyOf"]))
    kind = schema.get("type")
    if kind == "array":
        return "list"
    if kind == "string":
        return _TEXT_FORMATS.get(schema.get("format", ""), "text")
    return _WORDS.get(str(kind), "anything")


def _notes(schema: Schema, definitions: Schema) -> Iterator[tuple[FieldNote, frozenset[str]]]:
    """Yield each field with the names of the models in its type."""
    properties: dict[str, Schema] = schema.get("properties", {})
    for name, declared in properties.items():
        resolved, models = _resolved(declared, definitions)
        item: Schema | None = None
        if resolved.get("type") == "array":
            item, item_models = _resolved(resolved.get("items", {}), definitions)
            models |= item_models
        note = FieldNote(
            name=name,
            description=resolved.get("description", ""),
            required=name in schema.get("required", ()),
            default=resolved.get("default"),
            schema=resolved,
            item=item,
            nullable=any(variant.get("type") == "null" for variant in declared.get("anyOf", ())),
        )
        yield note, models


def _nested(schema: Schema, definitions: Schema, prefix: str, above: frozenset[str]) -> Iterator[FieldNote]:
    for note, models in _notes(schema, definitions):
        name = f"{prefix}{note.name}"
        yield replace(note, name=name)
        if models & above:
            continue
        if note.item is not None:
            inner, mark = note.item, f"{name}[]."
        else:
            inner, mark = note.schema, f"{name}."
            if isinstance(entries := inner.get("additionalProperties"), Mapping):
                inner, entry_models = _resolved(cast(Schema, entries), definitions)
                models, mark = models | entry_models, f"{name}.*."
                if models & above:
                    continue
        for variant in inner.get("anyOf", [inner]):
            yield from _nested(variant, definitions, mark, above | models)


def _resolved(schema: Schema, definitions: Schema) -> tuple[Schema, frozenset[str]]:
    """Return the schema with references resolved and null removed. Keys beside a reference override its target."""
    models: frozenset[str] = frozenset()
    while "$ref" in schema or len(_variants(schema)) == 1:
        if "$ref" in schema:
            name = schema["$ref"].rsplit("/", 1)[1]
            models |= {name}
            target: Schema = definitions[name]
        else:
            (target,) = _variants(schema)
        schema = {**target, **{key: value for key, value in schema.items() if key not in ("$ref", "anyOf", "allOf")}}
    if variants := _variants(schema):
        resolved = [_resolved(variant, definitions) for variant in variants]
        models = models.union(*(names for _, names in resolved))
        schema = {**schema, "anyOf": [variant for variant, _ in resolved]}
    return schema, models


def _variants(schema: Schema) -> list[Schema]:
    variants: list[Schema] = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf") or []
    return [variant for variant in variants if variant.get("type") != "null"]


def _limits(schema: Schema) -> Iterator[str]:
    for low, high, unit in (
        ("minimum", "maximum", ""),
        ("minLength", "maxLength", "character"),
        ("minItems", "maxItems", "item"),
        ("minProperties", "maxProperties", "entry"),
    ):
        if words := _range(schema.get(low), schema.get(high), unit):
            yield words
    if (above := schema.get("exclusiveMinimum")) is not None:
        yield f"more than {above:,}"
    if (below := schema.get("exclusiveMaximum")) is not None:
        yield f"less than {below:,}"
    if (step := schema.get("multipleOf")) is not None:
        yield f"a multiple of {step:,}"
    if pattern := schema.get("pattern"):
        yield f"matches {pattern}"


def _range(low: float | None, high: float | None, unit: str) -> str:
    if low is not None and high is not None:
        words = f"{low:,} to {high:,}" if low != high else f"exactly {low:,}"
    elif low is not None:
        words = f"at least {low:,}"
    elif high is not None:
        words = f"at most {high:,}"
    else:
        return ""
    plural = {"entry": "entries"}.get(unit, f"{unit}s")
    last = high if high is not None else low
    return f"{words} {unit if last == 1 else plural}" if unit else words
