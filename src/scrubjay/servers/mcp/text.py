"""Text that every transport can carry."""


def transportable(text: str) -> str:
    """The text, with a mark in place of what is not Unicode, as in the name of a strange file."""
    return text.encode("utf-8", "replace").decode()
