"""What an agent is told once, when it connects."""

INSTRUCTIONS = """\
Scrubjay is your durable memory. It survives this session and is shared with the user's other agents.

- Before you answer from assumption, or when a task begins: `recall` what is known about it.
- When you learn something worth keeping (a decision and its reason, a preference, a fact, an outcome): `remember` it
  in one self-contained sentence. Give it a `key` when there is one current value that may change.
- When you begin, call `session_start` with the folder you work in: it tells what was done there before, and memories
  stay with their project.
- An empty answer of `recall` means that nothing fitting is remembered: say so, do not guess.
- More tools exist than are listed: `search_tools` finds them, `describe_tool` shows what they take, `call_tool` calls.
- Long work returns a job: look at it with `get_job`, stop it with `cancel_job`.
"""
