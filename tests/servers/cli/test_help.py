from click.testing import CliRunner

from tests.servers.cli.toy_program import root


def help_of(*words: str) -> str:
    result = CliRunner().invoke(root, [*words, "--help"], terminal_width=78)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


def test_the_help_of_a_tool_is_complete():
    assert (
        help_of("notes", "keep-note")
        == """\
Keep a note, durably.

Usage: scrubjay notes keep-note [OPTIONS] CONTENT

Use it whenever something should be found later.

Examples:
  $ scrubjay notes keep-note 'your content'

Required:
  CONTENT, --content TEXT  What to keep.  [1 to 1,000 characters]

Options:
  --scope global|project  Who can find it.
  --importance NUMBER     How much it matters.  [0 to 1; default: 0.5]
  --tags TEXT             Labels to filter by.  [at most 5 items; can be
                          repeated]
  --metadata JSON         Anything else.
  --occurred-at TIME      When it happened.
  --pinned / --no-pinned  Keep it at the top.  [default: false]
  --weight 1|2            How heavy it is.  [default: 1]

For every tool:
  --json [REQUEST]  Print the result or the error as a single JSON document.
                    With REQUEST (a JSON object, - for stdin, or @file), take
                    the fields from it; options override it.
  -h, --help        Show this message and exit.
"""
    )


def test_the_examples_of_the_model_are_shown():
    assert """
Examples:
  $ scrubjay notes find-notes 'what'"'"'s new' --limit 3
""" in help_of("notes", "find-notes")


def test_help_mentions_jobs_and_destructive_tools():
    assert "\nRuns as a job: progress is shown, and Ctrl-C cancels it.\n" in help_of("work", "count-slowly")
    assert "\nCan delete or overwrite data.\n" in help_of("notes", "erase-note")


def test_the_root_lists_every_tool_under_its_family():
    assert (
        help_of()
        == """\
A toy that remembers.

Usage: scrubjay [OPTIONS] COMMAND [ARGS]...

It has a few tools of each kind.

Options:
  --version   Show the version and exit.
  -h, --help  Show this message and exit.

Commands:
  serve   Serve everything.
  refuse  Refuse to start.

scrubjay notes:
  keep-note     Keep a note, durably.
  keep-many     Keep many notes at once.
  find-notes    Find the notes most like a question.
  erase-note    Erase one note for good.

scrubjay work:
  fail          Fail in the way asked for.
  count-slowly  Count, one step at a time.
  stubborn      Work that does not listen.
  wait-here     Wait for nothing, without a job.

Run scrubjay FAMILY TOOL --help for the options of a command.
"""
    )


def test_a_family_lists_its_tools():
    assert (
        help_of("notes")
        == """\
The tools of the notes family.

Usage: scrubjay notes [OPTIONS] TOOL [OPTIONS]

Options:
  -h, --help  Show this message and exit.

Commands:
  keep-note   Keep a note, durably.
  keep-many   Keep many notes at once.
  find-notes  Find the notes most like a question.
  erase-note  Erase one note for good.

Run scrubjay notes COMMAND --help for the options of a command.
"""
    )


def test_the_help_of_other_commands_has_the_same_format():
    assert (
        help_of("serve")
        == """\
Serve everything.

Usage: scrubjay serve [OPTIONS] PLACE

Arguments:
  PLACE

Options:
  --port INTEGER  Where to listen.  [default: 4000]
  -h, --help      Show this message and exit.
"""
    )


def test_help_uses_the_width_of_the_terminal_up_to_a_maximum():
    wide = CliRunner().invoke(root, ["notes", "keep-note", "-h"], terminal_width=100).stdout
    assert "  --tags TEXT             Labels to filter by.  [at most 5 items; can be repeated]\n" in wide
