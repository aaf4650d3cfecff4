"""The reference page of settings."""

import inspect
from collections.abc import Iterator, Sequence

from pydantic import BaseModel

from scrubjay.servers.docs.markdown import code, page, prose, table, value
from scrubjay.tooling.fields import field_notes


def settings_page(model: type[BaseModel], env_prefix: str) -> str:
    """Return the page with every setting of the model; raise `ValueError` for one without a description."""
    delimiter = str(model.model_config.get("env_nested_delimiter") or "__")
    return page(
        "Settings", [prose(inspect.cleandoc(model.__doc__ or "")), *_sections(model, (), env_prefix, delimiter)]
    )


def _sections(model: type[BaseModel], path: Sequence[str], prefix: str, delimiter: str) -> Iterator[str]:
    """Yield a table of the model's own settings, then a section for each nested model."""
    notes = {note.name: note for note in field_notes(model.model_json_schema())}
    rows: list[list[str]] = []
    inner: list[tuple[str, type[BaseModel], str]] = []
    for name, field in model.model_fields.items():
        key = ".".join([*path, name])
        if not field.description:
            raise ValueError(f"the setting {key} has no description")
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            inner.append((name, field.annotation, field.description))
            continue
        note = notes[name]
        default = note.default if field.default_factory is None else field.get_default(call_default_factory=True)
        rows.append(
            [
                code(key),
                code(f"{prefix}{name.upper()}"),
                prose("; ".join([note.type, *note.limits])),
                "required" if note.required else value(default),
                prose(field.description),
            ]
        )
    if rows:
        yield table(["Key in the file", "Environment variable", "Type", "Default", "Meaning"], rows)
    for name, nested, description in inner:
        yield f"{'#' * (len(path) + 2)} {code('.'.join([*path, name]))}"
        yield prose(description)
        yield from _sections(nested, [*path, name], f"{prefix}{name.upper()}{delimiter}", delimiter)
