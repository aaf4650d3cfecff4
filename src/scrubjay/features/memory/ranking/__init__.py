"""Fusion, ranking, text analysis: pure functions over candidates. Nothing here reads a store."""
