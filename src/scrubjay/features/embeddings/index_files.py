"""Names of the derived index files, one per embedding model and vector size."""

from urllib.parse import quote

# A file of another version is not read but made again.
FORMAT_VERSION = 3


def index_file_name(model: str, vector_bytes: int) -> str:
    """Return the name of the index file for the vectors of this model."""
    return f"memories-{quote(model, safe='')}-{vector_bytes // 2}-{FORMAT_VERSION}.bin"


def index_kind(model: str, vector_bytes: int) -> str:
    """Return the text at the beginning of the file that says what it holds."""
    return f"memories of {model}, {vector_bytes}, format {FORMAT_VERSION}"
