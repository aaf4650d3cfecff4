"""A conversation with a memory: recall, let a language model answer and use tools, remember. Knows no protocol."""
