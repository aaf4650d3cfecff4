"""Every tool as a command: `scrubjay <family> <tool> --field value`."""
