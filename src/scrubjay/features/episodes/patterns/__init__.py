"""Patterns that recur in episodes: extracted at completion, merged with known ones, and recommended for new tasks."""
