"""Which definitions a change touches, and how, is told by their names and texts."""

from scrubjay.code_index.diff.files import FileChange, Side, Status
from scrubjay.code_index.diff.symbols import Touch, touched
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


def side(path: str, text: str) -> Side:
    content = text.encode()
    return Side(SourceFile(path, "", len(content), Language.PYTHON), content, read_facts(content, Language.PYTHON))


def change(before: str | None, after: str | None, path: str = "a.py", old_path: str = "a.py") -> FileChange:
    old, new = (side(old_path, before) if before else None), (side(path, after) if after else None)
    status = Status.MODIFIED if old and new else Status.ADDED if new else Status.REMOVED
    return FileChange(status, old_path if old else "", path if new else "", old, new)


def told(*changes: FileChange) -> list[tuple[Touch, str, str, str]]:
    return [(one.touch, one.name, one.old_name, one.old_path) for one in touched(changes)]


def test_only_the_innermost_definition_that_changed_is_told() -> None:
    assert told(change(BEFORE, BEFORE.replace("return None", "return 0"))) == [(Touch.BODY, "Old.stop", "", "")]
    assert told(change(BEFORE, BEFORE.replace("def stop(self)", "def stop(self, now=False)"))) == [
        (Touch.SIGNATURE, "Old.stop", "", "")
    ]
    assert told(change(BEFORE, BEFORE.replace("import os", "import sys"))) == [(Touch.TOP, "", "", "")]
    assert told(change(BEFORE, BEFORE.replace("    return y\n", "    return    y\n\n\n"))) == []


def test_what_got_another_name_or_place_is_not_told_as_gone() -> None:
    assert told(change(BEFORE, BEFORE.replace("helper", "assistant"))) == [(Touch.RENAMED, "assistant", "helper", "")]
    assert told(change(BEFORE, BEFORE.replace("class Old", "class New"))) == [(Touch.RENAMED, "New", "Old", "")]
    start = BEFORE.index("def helper")
    end = BEFORE.index("def same")
    moved = told(
        change(BEFORE, BEFORE[:start] + BEFORE[end:]), change(None, BEFORE[start:end], path="b.py", old_path="")
    )
    assert moved == [(Touch.MOVED, "helper", "", "a.py")]


def test_what_came_and_what_went_are_told() -> None:
    found = told(change(BEFORE, BEFORE.replace("def same(): return 1", "def fresh(z, w): return z * w - 7 + LIMIT")))
    assert found == [(Touch.REMOVED, "same", "", ""), (Touch.ADDED, "fresh", "", "")]
    gone = told(change(BEFORE, None))
    assert [name for _, name, _, _ in gone] == ["LIMIT", "Old", "Old.size", "Old.run", "Old.stop", "helper", "same"]
    assert {touch for touch, *_ in gone} == {Touch.REMOVED}
