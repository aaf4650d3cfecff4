from textwrap import dedent

from models.described import Described
from models.python_code import described_python, module_docstring

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


def test_functions_and_classes_come_with_their_docstring_and_without_it_in_the_code():
    body = "\n        size = 4\n\n    async def close(self):"
    found = list(described_python(SOURCE))

    assert [(each.name, each.kind, each.lead) for each in found] == [
        ("Pool", "type", "Keeps connections open."),
        ("close", "function", "Close every open connection.\n\nWaits for them."),
    ]
    assert found[1] == Described(
        "close",
        "function",
        "Close every open connection.\n\nWaits for them.",
        "Close every open connection.\n\nWaits for them.",
        "    async def close(self):\n        await self._closed()",
    )
    assert "Keeps connections open" not in found[0].code
    assert body.split("\n")[1].strip() in found[0].code


def test_the_docstring_of_a_module_is_read():
    assert module_docstring(SOURCE) == "A pool of connections."
    assert module_docstring("#!/usr/bin/python\n# by someone\n\nr'''Raw.\n\n    Indented.\n'''") == "Raw.\n\nIndented."
    assert module_docstring("# a long head of comments\n" * 60 + "import os") == ""
    assert module_docstring('import os\n"""Not a docstring."""') == ""


def test_a_file_that_does_not_parse_gives_nothing():
    assert list(described_python('def broken(:\n    """Text."""\n')) == []
