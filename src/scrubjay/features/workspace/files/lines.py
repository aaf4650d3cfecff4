"""Line-based editing of a text. Lines count from 1; line endings are preserved."""

from collections.abc import Sequence
from dataclasses import dataclass

from scrubjay.core.errors import InvalidRequest


@dataclass(slots=True)
class NumberedLines:
    """The lines of a text, without newlines."""

    lines: list[str]
    ends_with_newline: bool
    carriage_return: str
    """A carriage return for texts with Windows line endings, otherwise empty."""

    @classmethod
    def of(cls, text: str) -> "NumberedLines":
        lines = text.split("\n")
        ends_with_newline = lines[-1] == ""
        if ends_with_newline:
            lines.pop()
        ended = lines if ends_with_newline else lines[:-1]
        is_windows = bool(ended) and all(line.endswith("\r") for line in ended)
        return cls(lines, ends_with_newline, "\r" if is_windows else "")

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + ("\n" if self.ends_with_newline and self.lines else "")

    def get(self, first: int, last: int) -> list[str]:
        """Return the lines `first` to `last`, inclusive; -1 is the end."""
        end = len(self.lines) if last == -1 else last
        return [line.removesuffix("\r") if self.carriage_return else line for line in self.lines[first - 1 : end]]

    def insert(self, after: int, content: str) -> None:
        """Insert lines after line `after`; 0 is the top."""
        if after > len(self.lines):
            raise InvalidRequest(
                f"line_number: {after} is beyond the last line, {len(self.lines)}",
                hint="get_info returns the number of lines",
                details={"reason": "line_out_of_range", "line_count": len(self.lines)},
            )
        if not self.lines:  # lines inserted into an empty file end with a newline
            self.ends_with_newline = True
        self.lines[after:after] = self._split(content)

    def replace(self, first: int, last: int, content: str | None) -> None:
        """Replace the lines `first` to `last`, inclusive; None deletes them."""
        if last < first:
            raise InvalidRequest(f"end_line: {last} is before start_line {first}")
        if first > len(self.lines) or last > len(self.lines):
            raise InvalidRequest(
                f"start_line, end_line: {first} to {last} is beyond the last line, {len(self.lines)}",
                hint="get_info returns the number of lines",
                details={"reason": "line_out_of_range", "line_count": len(self.lines)},
            )
        self.lines[first - 1 : last] = self._split(content) if content is not None else []

    def _split(self, content: str) -> Sequence[str]:
        # A final newline ends the last line; it does not start another one.
        return [line.removesuffix("\r") + self.carriage_return for line in content.removesuffix("\n").split("\n")]
