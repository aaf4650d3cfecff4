"""Memories on their way out of a store and into it: our own files, and those of others."""
