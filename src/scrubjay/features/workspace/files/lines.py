"""A text as lines, counted from 1, and changed by them; how its lines end stays as it is."""

from collections.abc import Sequence
from dataclasses import dataclass

from scrubjay.core.errors import InvalidRequest


@dataclass(slots=True)
class Lines:
    """The lines of a text without their ends."""

    lines: list[str]
    ends_with_newline: bool
    carriage_return: str
    """What stands before each newline: a carriage return in files of Windows, else nothing."""

    @classmethod
    def of(cls, text: str) -> "Lines":
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

    def shown(self, first: int, last: int) -> list[str]:
        """From one to the other, both with them; -1 is the end."""
        end = len(self.lines) if last == -1 else last
        return [line.removesuffix("\r") if self.carriage_return else line for line in self.lines[first - 1 : end]]

    def insert(self, after: int, content: str) -> None:
        """Have these lines after that one; 0 is the top."""
        if after > len(self.lines):
            raise InvalidRequest(
                f"line_number: there are {len(self.lines)} lines, and no line {after}",
                hint="get_info tells how many there are",
                details={"reason": "line_out_of_range", "line_count": len(self.lines)},
            )
        if not self.lines:  # what was empty becomes lines that end
            self.ends_with_newline = True
        self.lines[after:after] = self._new(content)

    def replace(self, first: int, last: int, content: str | None) -> None:
        """Have these lines in the place of those; None leaves nothing there."""
        if last < first:
            raise InvalidRequest(f"end_line: {last} is before start_line {first}")
        if first > len(self.lines) or last > len(self.lines):
            raise InvalidRequest(
                f"start_line, end_line: there are {len(self.lines)} lines, and not all of {first} to {last}",
                hint="get_info tells how many there are",
                details={"reason": "line_out_of_range", "line_count": len(self.lines)},
            )
        self.lines[first - 1 : last] = self._new(content) if content is not None else []

    def _new(self, content: str) -> Sequence[str]:
        # A newline at its end is that of its last line, and not one more line.
        return [line.removesuffix("\r") + self.carriage_return for line in content.removesuffix("\n").split("\n")]
