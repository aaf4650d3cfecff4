"""What changed between two moments of a repository: files, definitions, and who may break by it."""
