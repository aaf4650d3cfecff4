"""Permission rules for agents: allow, deny or ask before calls of an agent's own tools.

The permission hook and `test_permission` evaluate the rules; deny wins over ask, and ask over allow. Only the owner,
on the command line, can widen permissions. Shell commands are compared by their words: `shell_lexer` reads them,
`shell_commands` finds the commands behind wrappers, `command_rules` compares, and `risky_words` lists what a rule that
allows does not cover. A rule is no sandbox: it does not see inside scripts. The rules do not restrict Scrubjay's own
tools: keys and scopes do that.
"""
