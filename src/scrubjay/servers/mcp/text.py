"""Text that every transport can carry."""


def transportable(text: str) -> str:
    """Return the text with `?` in place of lone surrogates, which file names that are not UTF-8 contain."""
    return text.encode("utf-8", "replace").decode()
