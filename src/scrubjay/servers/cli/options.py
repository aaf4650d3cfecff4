"""Turn a tool's fields into options, and a parsed command line into a request."""

import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click
from click.core import ParameterSource
from click.types import OptionHelpExtra

from scrubjay.core.errors import InvalidRequest
from scrubjay.core.lazy import lazy_module
from scrubjay.tooling.fields import FieldNote, field_notes, type_words

if TYPE_CHECKING:
    from click import shell_completion

    from scrubjay.tooling.declaration import Tool
else:
    shell_completion = lazy_module("click.shell_completion")

# Field names never begin with an underscore, so these cannot collide with one.
_JSON = "_json"
_SHORTHAND = "_shorthand"
# Options that every command has; a field with such a name can only be given in the request of `--json`.
_RESERVED = ("json", "help")


def dashed(name: str) -> str:
    """Return the name with dashes, as it is shown on the command line; underscores are accepted too."""
    return name.replace("_", "-")


class FieldValue(click.ParamType[Any]):
    """Passes values on as typed: the dispatcher validates them, so that all surfaces give the same errors."""

    def __init__(self, note: FieldNote) -> None:
        self.note = note
        self._types = _json_types(note.item or note.schema)
        self.name = note.type

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        for choice in self.note.choices:
            if value == str(choice):
                return choice
        if "string" in self._types or not self._types & {"object", "array", "anything"}:
            return value
        try:
            return json.loads(value)
        except (ValueError, RecursionError) as error:
            if "anything" in self._types:
                return value
            raise InvalidRequest(
                f"--{dashed(self.note.name)}: not valid JSON ({error})",
                hint="""write JSON in single quotes, as in '{"name": "value"}'""",
            ) from None

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        if choices := self.note.choices:
            return "|".join(map(str, choices))
        if "string" not in self._types and self._types & {"object", "array"}:
            return "JSON"
        return type_words(self.note.item or self.note.schema).upper()

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list["shell_completion.CompletionItem"]:
        items = [str(choice) for choice in self.note.choices if str(choice).startswith(incomplete)]
        return [shell_completion.CompletionItem(item) for item in items]


class FieldOption(click.Option):
    """The option for a field of a request."""

    def __init__(self, note: FieldNote, *, positional: bool) -> None:
        name = dashed(note.name)
        flag = _json_types(note.schema) == {"boolean"}
        super().__init__(
            [note.name, f"--{name}/--no-{name}" if flag else f"--{name}"],
            type=bool if flag else FieldValue(note),
            default=None,
            multiple=note.item is not None,
            help=note.description,
        )
        self.note = note
        self.positional = positional

    def get_help_spec(self, ctx: click.Context) -> str:
        spec = super().get_help_spec(ctx)
        return f"{dashed(self.note.name).upper()}, {spec}" if self.positional else spec

    def get_help_extra(self, ctx: click.Context) -> OptionHelpExtra:
        extra: OptionHelpExtra = {}
        limits = [*self.note.limits, *(["can be repeated"] if self.multiple else [])]
        if limits:
            extra["range"] = "; ".join(limits)
        if self.note.required:
            extra["required"] = "required"
        elif self.note.default not in (None, [], {}, ""):
            default = self.note.default
            extra["default"] = default if isinstance(default, str) else json.dumps(default, ensure_ascii=False)
        return extra


class ShorthandArgument(click.Argument):
    """The only required text field, given as a positional argument."""

    hidden = True
    """Help shows it together with its option."""

    def __init__(self, note: FieldNote) -> None:
        super().__init__([_SHORTHAND], required=False, metavar=dashed(note.name).upper(), type=click.STRING)
        self.note = note


def tool_parameters(tool: "Tool") -> list[click.Parameter]:
    """Return an option per field, the positional argument if there is one, and `--json`."""
    notes = [note for note in field_notes(tool.input_schema) if note.name not in _RESERVED]
    short = shorthand(tool)
    parameters: list[click.Parameter] = [FieldOption(note, positional=note.name == short) for note in notes]
    parameters += [ShorthandArgument(note) for note in notes if note.name == short]
    parameters.append(
        click.Option(
            [_JSON, "--json"],
            is_flag=False,
            flag_value="",
            metavar="[REQUEST]",
            help="Print the result or the error as a single JSON document. With REQUEST (a JSON object, - for stdin, "
            "or @file), take the fields from it; options override it.",
        )
    )
    return parameters


def shorthand(tool: "Tool") -> str | None:
    """Return the field that may be given without its name: the only required text; None when there is none."""
    texts = [note.name for note in field_notes(tool.input_schema) if note.required and note.type == "text"]
    return texts[0] if len(texts) == 1 else None


def wants_json(ctx: click.Context) -> bool:
    return ctx.get_parameter_source(_JSON) is ParameterSource.COMMANDLINE


def request_arguments(ctx: click.Context) -> Mapping[str, Any]:
    """Return the arguments of the call: the request of `--json`, overridden by the options."""
    given: dict[str, Any] = {}
    short: ShorthandArgument | None = None
    for parameter in ctx.command.params:
        if isinstance(parameter, ShorthandArgument):
            short = parameter
        elif isinstance(parameter, FieldOption) and _is_given(ctx, parameter):
            value = ctx.params[parameter.name]
            given[parameter.note.name] = list(value) if parameter.multiple else value
    text: str | None = ctx.params.get(_SHORTHAND)
    request: str = ctx.params.get(_JSON) or ""
    # In `recall --json "what was it"` the parser takes the text for the request; a request looks different.
    if short is not None and text is None and request and not _is_request(request):
        text, request = request, ""
    if short is not None and text is not None:
        if short.note.name in given:
            raise click.UsageError(f"{short.note.name} is given twice, with and without its name", ctx)
        given[short.note.name] = text
    return {**(_read_request(request) if request else {}), **given}


def command_line(tool: "Tool", arguments: Mapping[str, Any]) -> str:
    """Return the shell command for a call."""
    short = shorthand(tool)
    words = ["scrubjay", tool.family, dashed(tool.name)]
    if short is not None and short in arguments:
        words.append(shlex.quote(str(arguments[short])))
    for name, value in arguments.items():
        if name == short:
            continue
        option = f"--{dashed(name)}"
        if isinstance(value, bool):
            words.append(option if value else f"--no-{dashed(name)}")
            continue
        for entry in cast(list[Any], value) if isinstance(value, list) else [value]:
            text = json.dumps(entry, ensure_ascii=False) if isinstance(entry, dict | list) else str(entry)
            words += [option, shlex.quote(text)]
    return " ".join(words)


def _is_given(ctx: click.Context, parameter: click.Parameter) -> bool:
    return ctx.get_parameter_source(parameter.name) is ParameterSource.COMMANDLINE


def _is_request(text: str) -> bool:
    return text == "-" or text.lstrip().startswith(("{", "@"))


def _read_request(text: str) -> dict[str, Any]:
    try:
        if text == "-":
            document = sys.stdin.buffer.read()
        elif text.startswith("@"):
            document = Path(text[1:]).read_bytes()
        else:
            document = text.encode("utf-8", "surrogatepass")
        request = json.loads(document.decode("utf-8"))
    except OSError as error:
        raise InvalidRequest(f"--json: {text[1:]} cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        raise InvalidRequest(f"--json: not valid JSON ({error})", hint="give a JSON object, - or @file") from None
    if not isinstance(request, dict):
        raise InvalidRequest("--json: the request must be a JSON object", hint='for example \'{"field": "value"}\'')
    return cast(dict[str, Any], request)


def _json_types(schema: Mapping[str, Any]) -> set[str]:
    """Return the JSON types that the schema accepts."""
    variants: Sequence[Mapping[str, Any]] = schema.get("anyOf") or [schema]
    return {str(variant.get("type", "string" if "enum" in variant else "anything")) for variant in variants}
