import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Mapping

import pytest

from tests.servers.cli.conftest import Run, Start
from tests.servers.cli.toy_program import HOSTILE

OnTerminal = Callable[..., str]


@pytest.fixture
def on_terminal(start: Start) -> OnTerminal:
    """Run the program on a pseudo-terminal of 80 columns and return what it writes."""

    def on_terminal(*words: str, env: Mapping[str, str] | None = None) -> str:
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 80, 0, 0))
        child = start(*words, env=env, stdin=slave, stdout=slave, stderr=slave)
        os.close(slave)
        written = b""
        while True:
            try:
                more = os.read(master, 65536)
            except OSError:  # on Linux, the last writer has closed the terminal
                break
            if not more:
                break
            written += more
        os.close(master)
        child.wait()
        return written.decode().replace("\r\n", "\n")

    return on_terminal


def test_a_terminal_gets_colours_and_boxes(on_terminal: OnTerminal):
    written = on_terminal("notes", "keep-note", "tea")
    assert "╭" in written
    assert "\x1b[1mid" in written


def test_no_color_is_respected(on_terminal: OnTerminal):
    written = on_terminal("notes", "find-notes", "x", env={"NO_COLOR": "1"})
    assert "─" in written
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]", written)
    assert "\x1b" not in on_terminal("notes", "--help", env={"NO_COLOR": "1"})
    assert "\x1b" not in on_terminal("nots", env={"NO_COLOR": "1"})


@pytest.mark.parametrize("words", [["notes", "find-notes", "x"], ["--help"], ["nots"], ["work", "count-slowly"]])
def test_a_dumb_terminal_gets_plain_text(on_terminal: OnTerminal, words: list[str]):
    written = on_terminal(*words, env={"TERM": "dumb"})
    assert "\x1b" not in written
    assert "─" not in written


@pytest.mark.parametrize("words", [["--help"], ["nots"]])
def test_help_and_errors_are_coloured_on_a_terminal(on_terminal: OnTerminal, words: list[str]):
    assert re.search(r"\x1b\[[0-9;]*3[0-9]", on_terminal(*words))


def test_json_is_indented_on_a_terminal(on_terminal: OnTerminal):
    assert on_terminal("notes", "erase-note", "--id", "x", "--json") == '{\n  "erased": "x"\n}\n'


def test_the_progress_bar_disappears_at_the_end(on_terminal: OnTerminal):
    written = on_terminal("work", "count-slowly")
    assert "━" in written
    assert "10/10" in written
    assert written.count("\x1b[?25l") == written.count("\x1b[?25h") == 1


@pytest.mark.parametrize("words", [["hostile"], ["hostile", "--json"]])
def test_stored_text_is_escaped(on_terminal: OnTerminal, run: Run, words: list[str]):
    seen = on_terminal("notes", "find-notes", *words, env={"NO_COLOR": "1"})
    piped = run("notes", "find-notes", *words).stdout
    for written in (re.sub(r"\x1b\[[0-9;]*m", "", seen), piped):
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", written)
        assert "[bold]markup[/bold]" in written
        assert ":smile:" in written
    assert HOSTILE not in piped


def test_a_pipe_gets_plain_text_with_one_line_per_row(run: Run):
    done = run("notes", "find-notes", "long")
    assert (done.returncode, done.stderr) == (0, "")
    header, *rows = done.stdout.splitlines()
    assert header.split() == ["id", "score", "pinned", "tags", "kept", "at", "content"]
    assert [row.split()[0] for row in rows[:3]] == ["note_0", "note_1", "note_2"]
    assert "\x1b" not in done.stdout
    assert "─" not in done.stdout


def test_with_json_stdout_is_one_document_on_one_line(run: Run):
    done = run("notes", "keep-note", "--json", "-", given=b'{"content": "tea"}')
    assert (done.returncode, done.stderr, done.stdout.count("\n")) == (0, "", 1)
    assert json.loads(done.stdout)["received"] == {"content": "tea"}


@pytest.mark.parametrize(
    "env",
    [
        {"LC_ALL": "C", "LANG": "C"},
        {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "latin-1"},
    ],
)
def test_output_is_utf8_regardless_of_the_locale(run: Run, env: dict[str, str]):
    done = run("notes", "find-notes", "long", env=env)
    assert (done.returncode, done.stderr) == (0, "")
    assert "naïve 漢字 ⚑" in done.stdout


def test_arguments_are_utf8_in_the_c_locale(run: Run):
    done = run("notes", "keep-note", "naïve ⚑", "--json", env={"LC_ALL": "C", "LANG": "C"})
    assert json.loads(done.stdout)["received"] == {"content": "naïve ⚑"}


@pytest.mark.parametrize("words", [["notes", "find-notes", "x", "--limit", "50"], ["--help"], ["--version"]])
def test_a_broken_pipe_ends_the_command_quietly(start: Start, words: list[str]):
    reader, writer = os.pipe()
    os.close(reader)
    child = start(*words, stdout=writer)
    os.close(writer)
    _, err = child.communicate()
    assert (child.returncode, err) == (141, b"")


@pytest.mark.parametrize(
    ("words", "position", "offered"),
    [
        ("scrubjay no", 1, ["notes"]),
        ("scrubjay notes fi", 2, ["find-notes"]),
        ("scrubjay notes keep-note --sc", 3, ["--scope"]),
        ("scrubjay notes keep-note --scope ", 4, ["global", "project"]),
    ],
)
def test_the_shell_completes_names_and_values(run: Run, words: str, position: int, offered: list[str]):
    env = {"_SCRUBJAY_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(position)}
    done = run(env=env)
    assert [line.split(",", 1)[1] for line in done.stdout.splitlines()] == offered


def test_the_completion_script_is_printed(run: Run):
    assert (
        "complete -o nosort -F _scrubjay_completion scrubjay" in run(env={"_SCRUBJAY_COMPLETE": "bash_source"}).stdout
    )


def test_importing_the_command_line_loads_nothing_heavy():
    program = (
        "import sys, scrubjay.servers.cli.commands;"
        "print([name for name in ('rich', 'pydantic', 'anyio', 'asyncio', 'numpy', 'apsw') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout == "[]\n"


def test_rich_is_loaded_only_to_draw(run: Run):
    done = run("notes", "find-notes", "x", env={"PYTHONPROFILEIMPORTTIME": "1"})
    assert done.returncode == 0
    assert "anyio" in done.stderr
    assert "rich" not in done.stderr
