"""The reference pages, written as Markdown from the declarations: the same code always gives the same text."""
