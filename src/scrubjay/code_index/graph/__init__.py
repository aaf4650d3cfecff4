"""The use graph of a repository: calls, imports and inheritance, resolved from stored facts without reading files."""
