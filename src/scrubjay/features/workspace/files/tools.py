"""The tool `file`: files under the configured root, with the request format of Mimo."""

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from scrubjay.features.workspace.files.service import Access, EntryType, FileService, FolderEntry
from scrubjay.tooling.declaration import Request, Result, examples, tool
from scrubjay.tooling.optional_fields import is_absent, is_empty

MAX_CONTENT = 10_000_000
MAX_PATHS = 100

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
READ_OPERATIONS = ("read", "ls", "read_lines", "search", "list_directory", "get_info", "read_multiple")
# Required fields of each operation, besides the path.
_REQUIRED: dict[str, tuple[str, ...]] = {
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

    operation: FileOperation = Field(description="The operation.")
    path: Path = Field(default=".", description="Relative to the root, or absolute and under it.")
    content: str = Field(default="", max_length=MAX_CONTENT, description="The text to write or insert.")
    mode: Literal["rewrite", "append"] = Field(
        default="rewrite", description="For write: replace the file or append to it."
    )
    start_line: int = Field(
        default=1, ge=1, description="First line, from 1. For read_lines, replace_lines and delete_lines."
    )
    end_line: int | None = Field(
        default=None,
        ge=-1,
        description="Last line, inclusive. Default: the end of the file (or -1) for read_lines, else start_line.",
    )
    line_number: int | None = Field(
        default=None,
        ge=0,
        description="For insert_after (default 0: the top of the file) and insert_before (default 1).",
    )
    pattern: str | None = Field(
        default=None,
        min_length=1,
        max_length=2_000,
        description="For search: a regular expression in Python syntax.",
    )
    old_str: str | None = Field(
        default=None,
        min_length=1,
        max_length=MAX_CONTENT,
        description="For replace_string: the text to replace; only its first occurrence.",
    )
    new_str: str | None = Field(default=None, max_length=MAX_CONTENT, description="For replace_string: the new text.")
    depth: int = Field(default=1, ge=1, le=20, description="For list_directory: levels of folders to list.")
    destination: Path | None = Field(
        default=None, description="For move: the new path. An existing file is not overwritten."
    )
    paths: list[Path] | None = Field(
        default=None, min_length=1, max_length=MAX_PATHS, description="For read_multiple: the files."
    )

    @model_validator(mode="after")
    def _check_fields(self) -> Self:
        missing = [name for name in _REQUIRED.get(self.operation, ()) if getattr(self, name) is None]
        if missing:
            raise ValueError(f"{self.operation} needs {' and '.join(missing)}")
        if self.end_line == 0 or (self.end_line == -1 and self.operation != "read_lines"):
            raise ValueError("end_line counts from 1; -1 means the end of the file and is only for read_lines")
        if self.operation == "insert_before" and self.line_number == 0:
            raise ValueError("line_number counts from 1 for insert_before")
        return self


class FoundLine(Result):
    file: str
    line: int = Field(description="Counted from 1.")
    content: str


class DirectoryEntry(Result):
    """A directory entry. Symbolic links are listed but never followed."""

    name: str
    type: EntryType
    path: str
    children: "list[DirectoryEntry] | None" = Field(
        default=None,
        exclude_if=lambda value: value is None,
        description="Entries of the folder, down to the requested depth.",
    )


class FileInfoView(Result):
    path: str
    size: int
    type: Literal["regular", "directory", "symlink", "device", "other"]
    access: Access = Field(description="Access rights of the server.")
    atime: datetime
    mtime: datetime
    ctime: datetime
    mode: int = Field(description="Permission bits.")
    line_count: int | None = Field(description="Number of lines; null when the file is not text or too large.")
    is_directory: bool
    is_file: bool


class ReadFileView(Result):
    path: str
    content: str | None
    error: str | None = Field(description="The reason when content is null.")


class FileResult(Result):
    """The result of an operation; only its own fields are set."""

    operation: FileOperation
    path: str
    ok: Literal[True] = True
    content: str | None = Field(default=None, exclude_if=is_absent, description="read: the text.")
    names: list[str] | None = Field(default=None, exclude_if=is_absent, description="ls: sorted names.")
    lines: list[str] | None = Field(default=None, exclude_if=is_absent, description="read_lines: the lines.")
    matches: list[FoundLine] | None = Field(
        default=None, exclude_if=is_absent, description="search: at most 100 matches."
    )
    entries: list[DirectoryEntry] | None = Field(
        default=None, exclude_if=is_absent, description="list_directory: the entries."
    )
    info: FileInfoView | None = Field(default=None, exclude_if=is_absent, description="get_info: metadata of the file.")
    files: list[ReadFileView] | None = Field(
        default=None, exclude_if=is_absent, description="read_multiple: one item per path."
    )
    line: int | None = Field(
        default=None, exclude_if=is_absent, description="replace_string: the line of the replaced text."
    )
    truncated: bool = Field(default=False, exclude_if=is_empty, description="True when the result is incomplete.")

    def bare(self) -> Any:
        """Return only the value of the operation, as Mimo does."""
        for value in (self.content, self.names, self.lines, self.matches, self.entries, self.info, self.files):
            if value is not None:
                return value
        return "ok"


@tool("files", destructive=True, core=False, reading_operations=READ_OPERATIONS)
async def file(request: FileRequest, files: FileService) -> FileResult:
    """Read, write, edit, search, list and move files under the server's root folder.

    Paths outside the root are refused, including symbolic links that lead there. Writes are atomic, and a file that
    changed since it was read is not overwritten. Files must be UTF-8 text of at most 10 MiB (configurable).
    """
    result = FileResult(operation=request.operation, path=request.path)
    path, content = request.path, request.content
    match request.operation:
        case "read":
            result.content = await files.read(path)
        case "write":
            await files.write(path, content, append=request.mode == "append")
        case "ls":
            result.names, result.truncated = await files.ls(path)
        case "read_lines":
            result.lines = await files.read_lines(path, request.start_line, request.end_line or -1)
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
            result.matches = [FoundLine(**match) for match in found.matches]
            result.truncated = found.truncated
        case "replace_string":
            result.line = await files.replace_string(path, request.old_str or "", request.new_str or "")
        case "list_directory":
            entries, result.truncated = await files.list_directory(path, request.depth)
            result.entries = [_entry(entry) for entry in entries]
        case "get_info":
            info = await files.get_info(path)
            result.info = FileInfoView.model_validate(info, from_attributes=True)
        case "move":
            await files.move(path, request.destination or "")
        case "create_directory":
            await files.create_directory(path)
        case "read_multiple":
            read = await files.read_multiple(request.paths or [])
            result.files = [ReadFileView.model_validate(file, from_attributes=True) for file in read]
    return result


def _entry(entry: FolderEntry) -> DirectoryEntry:
    children = None if entry.children is None else [_entry(child) for child in entry.children]
    return DirectoryEntry(name=entry.name, type=entry.type, path=entry.path, children=children)
