"""Documented declarations are found in Python."""

from textwrap import dedent

from models.pairs import DescribedCode
from models.python_code import module_docstring, read_python

SOURCE = dedent('''
    """A pool of connections."""

    class Pool:
        """Keeps connections open."""

        size = 4

        async def close(self):
            """Close every open connection.

            Waits for them.
            """
            await self._closed()

        def bare(self):
            return 1

    def one(): """Only documented, no body."""
''')


def test_functions_and_classes_are_returned_with_docstring_and_code_without_it():
    body = "\n        size = 4\n\n    async def close(self):"
    found = list(read_python(SOURCE))

    assert [(each.name, each.kind, each.lead) for each in found] == [
        ("Pool", "type", "Keeps connections open."),
        ("close", "function", "Close every open connection.\n\nWaits for them."),
    ]
    assert found[1] == DescribedCode(
        "close",
        "function",
        "Close every open connection.\n\nWaits for them.",
        "Close every open connection.\n\nWaits for them.",
        "    async def close(self):\n        await self._closed()",
    )
    assert "Keeps connections open" not in found[0].code
    assert body.split("\n")[1].strip() in found[0].code


def test_a_module_docstring_is_found():
    assert module_docstring(SOURCE) == "A pool of connections."
    assert module_docstring("#!/usr/bin/python\n# by someone\n\nr'''Raw.\n\n    Indented.\n'''") == "Raw.\n\nIndented."
    assert module_docstring("# a long head of comments\n" * 60 + "import os") == ""
    assert module_docstring('import os\n"""Not a docstring."""') == ""


def test_a_file_with_syntax_errors_yields_nothing():
    assert list(read_python('def broken(:\n    """Text."""\n')) == []
