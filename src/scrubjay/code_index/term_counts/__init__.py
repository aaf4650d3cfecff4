"""Words and meanings of the parts of files."""
