"""Files under the root that the owner chose: the tool `file` as Mimo's clients know it."""

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from scrubjay.features.workspace.files.service import Access, Entry, EntryType, FileService
from scrubjay.tooling.declaration import Request, Result, examples, tool
from scrubjay.tooling.optional_fields import is_absent as _absent
from scrubjay.tooling.optional_fields import is_nothing

MAX_CONTENT = 10_000_000
MOST_PATHS = 100

Path = Annotated[str, Field(min_length=1, max_length=4_096)]
FileOperation = Literal[
    "read",
    "write",
    "ls",
    "read_lines",
    "insert_after",
    "insert_before",
    "replace_lines",
    "delete_lines",
    "search",
    "replace_string",
    "list_directory",
    "get_info",
    "move",
    "create_directory",
    "read_multiple",
]
READING = ("read", "ls", "read_lines", "search", "list_directory", "get_info", "read_multiple")
# What each operation cannot do without, beside a path.
_NEEDED: dict[str, tuple[str, ...]] = {
    "search": ("pattern",),
    "replace_string": ("old_str", "new_str"),
    "move": ("destination",),
    "read_multiple": ("paths",),
}


class FileRequest(Request):
    model_config = examples(
        {"operation": "read", "path": "README.md"},
        {"operation": "replace_string", "path": "notes.txt", "old_str": "draft", "new_str": "final"},
        {"operation": "search", "path": "src", "pattern": "TODO|FIXME"},
    )

    operation: FileOperation = Field(description="What to do.")
    path: Path = Field(default=".", description="From the root, or absolute and under it.")
    content: str = Field(default="", max_length=MAX_CONTENT, description="What to write, or the new lines.")
    mode: Literal["rewrite", "append"] = Field(default="rewrite", description="For write.")
    start_line: int = Field(default=1, ge=1, description="For read_lines, replace_lines and delete_lines; from 1.")
    end_line: int | None = Field(
        default=None, ge=-1, description="The last line. By default the end (also -1) to read, start_line to change."
    )
    line_number: int | None = Field(
        default=None, ge=0, description="For insert_after (default 0: the top) and insert_before (default 1)."
    )
    pattern: str | None = Field(
        default=None,
        min_length=1,
        max_length=2_000,
        description="For search: a regular expression, in Python's syntax.",
    )
    old_str: str | None = Field(
        default=None, min_length=1, max_length=MAX_CONTENT, description="For replace_string; the first one is replaced."
    )
    new_str: str | None = Field(default=None, max_length=MAX_CONTENT, description="For replace_string.")
    depth: int = Field(default=1, ge=1, le=20, description="For list_directory: how many levels of folders.")
    destination: Path | None = Field(default=None, description="For move: where to; nothing is overwritten.")
    paths: list[Path] | None = Field(
        default=None, min_length=1, max_length=MOST_PATHS, description="For read_multiple: the files."
    )

    @model_validator(mode="after")
    def _whole(self) -> Self:
        missing = [name for name in _NEEDED.get(self.operation, ()) if getattr(self, name) is None]
        if missing:
            raise ValueError(f"{self.operation} needs {' and '.join(missing)}")
        if self.end_line == 0 or (self.end_line == -1 and self.operation != "read_lines"):
            raise ValueError("end_line is a line, counted from 1; -1 is the end, for read_lines")
        if self.operation == "insert_before" and self.line_number == 0:
            raise ValueError("line_number: lines are counted from 1")
        return self


class FoundLine(Result):
    file: str
    line: int = Field(description="Counted from 1.")
    content: str


class DirectoryEntry(Result):
    """Something in a folder; links are told, and never followed."""

    name: str
    type: EntryType
    path: str
    children: "list[DirectoryEntry] | None" = Field(
        default=None, exclude_if=lambda value: value is None, description="What is in it, where that was asked for."
    )


class FileInfoView(Result):
    path: str
    size: int
    type: Literal["regular", "directory", "symlink", "device", "other"]
    access: Access = Field(description="What this server may do with it.")
    atime: datetime
    mtime: datetime
    ctime: datetime
    mode: int = Field(description="The permissions, as a number.")
    line_count: int | None = Field(description="Of a text that is not too large.")
    is_directory: bool
    is_file: bool


class ReadFileView(Result):
    path: str
    content: str | None
    error: str | None = Field(description="Why there is no content.")


class FileResult(Result):
    """What was done; of the fields below, those that belong to the operation."""

    operation: FileOperation
    path: str
    ok: Literal[True] = True
    content: str | None = Field(default=None, exclude_if=_absent, description="Of read: the text.")
    names: list[str] | None = Field(default=None, exclude_if=_absent, description="Of ls, in order.")
    lines: list[str] | None = Field(default=None, exclude_if=_absent, description="Of read_lines.")
    matches: list[FoundLine] | None = Field(default=None, exclude_if=_absent, description="Of search: 100 at most.")
    entries: list[DirectoryEntry] | None = Field(default=None, exclude_if=_absent, description="Of list_directory.")
    info: FileInfoView | None = Field(default=None, exclude_if=_absent, description="Of get_info.")
    files: list[ReadFileView] | None = Field(default=None, exclude_if=_absent, description="Of read_multiple.")
    line: int | None = Field(default=None, exclude_if=_absent, description="Of replace_string: where it was.")
    truncated: bool = Field(default=False, exclude_if=is_nothing, description="Whether there is more than is told.")

    def bare(self) -> Any:
        """What the operation is for, without its frame."""
        for own in (self.content, self.names, self.lines, self.matches, self.entries, self.info, self.files):
            if own is not None:
                return own
        return "ok"


@tool("files", destructive=True, core=False, reading_operations=READING)
async def file(request: FileRequest, files: FileService) -> FileResult:
    """Read, write, edit, search, list and move files under the server's root folder.

    Nothing outside of the root is reached, also not by links. A change is done whole or not at all, and a file that
    somebody else changed meanwhile is not overwritten. Only text in UTF-8, 10 MiB at most unless the owner says
    otherwise.
    """
    done = FileResult(operation=request.operation, path=request.path)
    path, content = request.path, request.content
    match request.operation:
        case "read":
            done.content = await files.read(path)
        case "write":
            await files.write(path, content, appends=request.mode == "append")
        case "ls":
            done.names, done.truncated = await files.ls(path)
        case "read_lines":
            done.lines = await files.read_lines(path, request.start_line, request.end_line or -1)
        case "insert_after":
            await files.insert(path, request.line_number or 0, content)
        case "insert_before":
            await files.insert(path, (request.line_number or 1) - 1, content)
        case "replace_lines":
            await files.replace_lines(path, request.start_line, request.end_line or request.start_line, content)
        case "delete_lines":
            await files.replace_lines(path, request.start_line, request.end_line or request.start_line, None)
        case "search":
            found = await files.search(path, request.pattern or "")
            done.matches = [FoundLine(**match) for match in found.matches]
            done.truncated = found.truncated
        case "replace_string":
            done.line = await files.replace_string(path, request.old_str or "", request.new_str or "")
        case "list_directory":
            entries, done.truncated = await files.list_directory(path, request.depth)
            done.entries = [_entry(entry) for entry in entries]
        case "get_info":
            info = await files.get_info(path)
            done.info = FileInfoView.model_validate(info, from_attributes=True)
        case "move":
            await files.move(path, request.destination or "")
        case "create_directory":
            await files.create_directory(path)
        case "read_multiple":
            read = await files.read_multiple(request.paths or [])
            done.files = [ReadFileView.model_validate(one, from_attributes=True) for one in read]
    return done


def _entry(entry: Entry) -> DirectoryEntry:
    children = None if entry.children is None else [_entry(child) for child in entry.children]
    return DirectoryEntry(name=entry.name, type=entry.type, path=entry.path, children=children)
