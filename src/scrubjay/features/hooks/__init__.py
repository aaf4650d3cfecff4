"""Answer the hooks of coding agents: inject memories into sessions and prompts, record what was said."""
