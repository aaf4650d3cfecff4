"""The reference pages, generated as Markdown from the declarations; the output is deterministic."""
