"""Search an index: rank files by words, names, paths, embeddings, commit history and callers."""
