"""Names of files as text that every format can carry."""


def printable_path(path: str) -> str:
    """The path, with what is not Unicode in it written as an escape."""
    return path.encode("utf-8", "backslashreplace").decode()
