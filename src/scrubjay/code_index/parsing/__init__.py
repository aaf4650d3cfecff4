"""What one file's text says by itself: definitions, imports and uses. Knows no other file and does no I/O."""
