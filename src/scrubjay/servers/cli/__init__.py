"""The command line: every tool as a command, `scrubjay <family> <tool> --field value`."""
