"""Facts about one file: chunks, words and symbols, and how they are packed and cached."""
