"""Ranking of memories: analysis of the question, signals, fusion and deduplication. Pure functions; no storage."""
