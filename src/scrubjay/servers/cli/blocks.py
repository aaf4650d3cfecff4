"""Convert the result of any tool to display blocks: tables, pairs and notes. Independent of tools and terminals."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Any, Literal, cast

from pydantic import BaseModel

from scrubjay.servers.cli.escapes import visible, visible_json
from scrubjay.tooling.job_view import ErrorView, JobView, ProgressView

Kind = Literal["text", "data", "number", "time", "yes", "no", "json", "nothing"]


@dataclass(frozen=True, slots=True)
class Cell:
    """A value as text that is safe to print."""

    text: str
    kind: Kind = "text"


@dataclass(frozen=True, slots=True)
class TableBlock:
    """A list of objects, one per row."""

    title: str
    headers: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, slots=True)
class PairsBlock:
    """The fields of one object."""

    title: str
    items: tuple[tuple[str, Cell], ...]


@dataclass(frozen=True, slots=True)
class NoteBlock:
    """A short remark."""

    text: str


Block = TableBlock | PairsBlock | NoteBlock


def to_blocks(answer: BaseModel, now: datetime) -> Sequence[Block]:
    """Return the blocks for a result, in the order of its model's fields. A job is shown by its result and a note."""
    if isinstance(answer, JobView):
        job = cast(JobView[Any], answer)
        if isinstance(job.result, BaseModel):
            return [*to_blocks(job.result, now), NoteBlock(_job_summary(job))]
    fields = _fields(cast(BaseModel, answer))
    return list(_blocks("", fields, now)) or [NoteBlock(f"no {label(name)}") for name in fields] or [NoteBlock("done")]


def label(name: str) -> str:
    return visible(name).replace("_", " ")


def _blocks(title: str, fields: Mapping[str, Any], now: datetime) -> Iterable[Block]:
    pairs: list[tuple[str, Cell]] = []
    sections: list[Block] = []
    for name, value in fields.items():
        if _empty(value):
            if isinstance(value, list) and not title:
                sections.append(NoteBlock(f"no {label(name)}"))
        elif rows := _rows(value):
            sections.append(_table(label(name), rows, now))
        elif isinstance(value, BaseModel) and not isinstance(value, ProgressView | ErrorView):
            sections += _blocks(label(name), _fields(value), now)
        else:
            pairs.append((label(name), _block_cell(value, now)))
    if sections and _fit_in_a_note(pairs):
        return [*sections, NoteBlock(" · ".join(f"{name} {cell.text}" for name, cell in pairs))]
    return [PairsBlock(title, tuple(pairs)), *sections] if pairs else sections


def _fit_in_a_note(pairs: Sequence[tuple[str, Cell]]) -> bool:
    return 0 < sum(len(name) + len(cell.text) for name, cell in pairs) < 100 and all(
        "\n" not in cell.text for _, cell in pairs
    )


def _rows(value: Any) -> Sequence[Mapping[str, Any]]:
    """Return the value as table rows when it is a list or a mapping of objects; an empty list otherwise."""
    if isinstance(value, list):
        entries = cast(list[Any], value)
        if all(isinstance(entry, BaseModel | Mapping) for entry in entries):
            return [_fields(entry) for entry in entries]
    if isinstance(value, Mapping):
        named = cast(Mapping[Any, Any], value)
        if all(isinstance(entry, BaseModel) for entry in named.values()):
            return [{"name": name, **_fields(entry)} for name, entry in named.items()]
    return []


def _table(title: str, rows: Sequence[Mapping[str, Any]], now: datetime) -> TableBlock:
    """Return a table without its empty columns."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    names = [name for name in names if any(not _empty(row.get(name)) for row in rows)]
    cells = tuple(tuple(_table_cell(row.get(name), now) for name in names) for row in rows)
    return TableBlock(f"{title} ({len(rows)})", tuple(label(name) for name in names), cells)


def _fields(value: BaseModel | Mapping[Any, Any]) -> Mapping[str, Any]:
    """Return the fields to show, without those that `exclude_if` omits on the other surfaces."""
    if isinstance(value, BaseModel):
        fields = {name: (getattr(value, name), field) for name, field in type(value).model_fields.items()}
        return {
            name: entry
            for name, (entry, field) in fields.items()
            if field.exclude_if is None or not field.exclude_if(entry)
        }
    return {str(name): entry for name, entry in value.items()}


def _empty(value: Any) -> bool:
    return value is None or value == "" or (isinstance(value, list | tuple | dict | set | frozenset) and not value)


def _block_cell(value: Any, now: datetime) -> Cell:
    """Return a cell that may have several lines: nested data becomes indented JSON."""
    if isinstance(value, Mapping | list) and _depth(value) > 1:
        document = json.dumps(value, ensure_ascii=False, indent=2, default=_json_default)
        return Cell(visible_json(document), "json")
    return _table_cell(value, now)


def _table_cell(value: Any, now: datetime) -> Cell:
    """Return a cell for a table."""
    match value:
        case None:
            return Cell("", "nothing")
        case bool():
            return Cell("yes", "yes") if value else Cell("no", "no")
        case int() if not isinstance(value, Enum):
            return Cell(str(value), "number")
        case float():
            return Cell(_number(value), "number")
        case datetime():
            return Cell(_format_time(value, now), "time")
        case str() | Enum() | ProgressView() | ErrorView():
            return Cell(_inline(value, now))
        case _:
            return Cell(_inline(value, now), "data")


def _inline(value: Any, now: datetime) -> str:
    """Return a value as text on one line, including nested values."""
    match value:
        case ProgressView():
            total = f" of {_count(value.total)}" if value.total is not None else ""
            return " · ".join(part for part in (f"{_count(value.done)}{total}", visible(value.message)) if part)
        case ErrorView():
            return visible(f"{value.code}: {value.message}")
        case BaseModel() | Mapping():
            parts = _fields(cast(BaseModel | Mapping[Any, Any], value)).items()
            return ", ".join(f"{label(name)} {_nested(entry, now)}" for name, entry in parts if not _empty(entry))
        case list() | tuple() | set() | frozenset():
            entries = cast(Iterable[Any], value)
            return ", ".join(_nested(entry, now) for entry in entries)
        case Enum():
            return visible(str(value.value))
        case str():
            return visible(value)
        case None | bool() | int() | float() | datetime():
            return _table_cell(value, now).text
        case _:
            return visible(str(value))


def _nested(value: Any, now: datetime) -> str:
    inner = _inline(value, now)
    return f"({inner})" if isinstance(value, BaseModel | Mapping | list) else inner


def _depth(value: Any) -> int:
    if isinstance(value, Mapping):
        return 1 + max((_depth(entry) for entry in cast(Mapping[Any, Any], value).values()), default=0)
    if isinstance(value, list):
        return 1 + max((_depth(entry) for entry in cast(list[Any], value)), default=0)
    return 0


def _json_default(value: Any) -> Any:
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else str(value)


def _job_summary(job: JobView[Any]) -> str:
    took = f" in {(job.ended_at - job.started_at).total_seconds():.1f} s" if job.started_at and job.ended_at else ""
    return f"{job.job_id} {job.state}{took}"


def _number(value: float) -> str:
    """Return scores and shares with three decimals, larger numbers without trailing zeros."""
    if -1 <= value <= 1:
        return f"{value:.3f}"
    return f"{value:.3f}".rstrip("0").rstrip(".")


def _count(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else _number(value)


def _format_time(moment: datetime, now: datetime) -> str:
    """Return the local time with the time relative to now."""
    if moment.tzinfo is None:
        return f"{moment:%Y-%m-%d %H:%M}"
    return f"{moment.astimezone():%Y-%m-%d %H:%M} ({relative_time(moment, now)})"


def relative_time(moment: datetime, now: datetime) -> str:
    """Return a time relative to now in the largest fitting unit, such as `3 days ago`."""
    seconds = (now - moment).total_seconds()
    size = abs(seconds)
    for unit, length in (("year", 31_556_952), ("month", 2_629_746), ("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if size >= length:
            count = int(size // length)
            text = f"{count} {unit}{'s' if count > 1 else ''}"
            return f"{text} ago" if seconds > 0 else f"in {text}"
    return "just now" if seconds >= 0 else "in a moment"
