"""Compare two states of a repository: files, definitions, and the users that a change may break."""
