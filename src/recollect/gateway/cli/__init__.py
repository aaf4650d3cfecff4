"""Every tool as a command: `recollect <family> <tool> --field value`."""
