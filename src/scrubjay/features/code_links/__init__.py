"""Memories that are about code: which code is meant, and whether it still is what it was."""
