"""Touched definitions, and how they changed, are found by their names and texts."""

from scrubjay.code_index.diff.files import ChangeStatus, FileChange, FileVersion
from scrubjay.code_index.diff.symbols import Touch, touched_definitions
from scrubjay.code_index.models import Language, SourceFile
from scrubjay.code_index.parsing.reader import read_facts

BEFORE = '''import os

LIMIT = 3


class Old:
    """Does things."""

    size = 1

    def run(self, a):
        self.a = a
        return [a, self.size, LIMIT]

    def stop(self):
        return None


def helper(x):
    y = x + 1
    return y


def same(): return 1
'''


def side(path: str, text: str) -> FileVersion:
    content = text.encode()
    return FileVersion(
        SourceFile(path, "", len(content), Language.PYTHON), content, read_facts(content, Language.PYTHON)
    )


def change(before: str | None, after: str | None, path: str = "a.py", old_path: str = "a.py") -> FileChange:
    old, new = (side(old_path, before) if before else None), (side(path, after) if after else None)
    status = ChangeStatus.MODIFIED if old and new else ChangeStatus.ADDED if new else ChangeStatus.REMOVED
    return FileChange(status, old_path if old else "", path if new else "", old, new)


def touched(*changes: FileChange) -> list[tuple[Touch, str, str, str]]:
    return [(one.touch, one.name, one.old_name, one.old_path) for one in touched_definitions(changes)]


def test_only_the_innermost_changed_definition_is_reported() -> None:
    assert touched(change(BEFORE, BEFORE.replace("return None", "return 0"))) == [(Touch.BODY, "Old.stop", "", "")]
    assert touched(change(BEFORE, BEFORE.replace("def stop(self)", "def stop(self, now=False)"))) == [
        (Touch.SIGNATURE, "Old.stop", "", "")
    ]
    assert touched(change(BEFORE, BEFORE.replace("import os", "import sys"))) == [(Touch.TOP, "", "", "")]
    assert touched(change(BEFORE, BEFORE.replace("    return y\n", "    return    y\n\n\n"))) == []


def test_a_renamed_or_moved_definition_is_not_reported_as_removed() -> None:
    assert touched(change(BEFORE, BEFORE.replace("helper", "assistant"))) == [
        (Touch.RENAMED, "assistant", "helper", "")
    ]
    assert touched(change(BEFORE, BEFORE.replace("class Old", "class New"))) == [(Touch.RENAMED, "New", "Old", "")]
    start = BEFORE.index("def helper")
    end = BEFORE.index("def same")
    moved = touched(
        change(BEFORE, BEFORE[:start] + BEFORE[end:]), change(None, BEFORE[start:end], path="b.py", old_path="")
    )
    assert moved == [(Touch.MOVED, "helper", "", "a.py")]


def test_added_and_removed_definitions_are_reported() -> None:
    found = touched(change(BEFORE, BEFORE.replace("def same(): return 1", "def fresh(z, w): return z * w - 7 + LIMIT")))
    assert found == [(Touch.REMOVED, "same", "", ""), (Touch.ADDED, "fresh", "", "")]
    removed = touched(change(BEFORE, None))
    assert [name for _, name, _, _ in removed] == ["LIMIT", "Old", "Old.size", "Old.run", "Old.stop", "helper", "same"]
    assert {touch for touch, *_ in removed} == {Touch.REMOVED}
