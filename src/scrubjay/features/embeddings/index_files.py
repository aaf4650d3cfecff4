"""Names of the derived index files, one per embedding model and vector size."""

from urllib.parse import quote

# Files of another version are rebuilt.
FORMAT_VERSION = 3


def index_file_name(model: str, vector_bytes: int) -> str:
    """Return the name of the index file for the vectors of this model."""
    return f"memories-{quote(model, safe='')}-{vector_bytes // 2}-{FORMAT_VERSION}.bin"


def index_kind(model: str, vector_bytes: int) -> str:
    """Return the header text of the file, which identifies its content."""
    return f"memories of {model}, {vector_bytes}, format {FORMAT_VERSION}"
