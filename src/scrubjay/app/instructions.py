"""The MCP server instructions, sent to every agent when it connects."""

INSTRUCTIONS = """\
Scrubjay is your durable memory. It survives this session and is shared with the user's other agents.

- Before you answer from assumption, and when a task begins: `recall` what is known about it.
- When you learn something worth keeping (a decision and its reason, a preference, a fact, an outcome): `remember` it
  in one self-contained sentence. Give it a `key` if it is the current value of something that can change.
- When you begin, call `session_start` with your working folder: it returns what was done there before, and new
  memories are stored with that project.
- An empty result of `recall` means that no stored memory fits: say so, do not guess.
- More tools exist than are listed: `search_tools` finds them, `describe_tool` returns their arguments, `call_tool`
  calls them.
- Long work returns a job: poll it with `get_job`, stop it with `cancel_job`.
"""
