"""Word counts and embeddings of the chunks of files."""
