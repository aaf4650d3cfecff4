"""Rerank search results with a configured embedding model; chunk vectors are made in the background or on demand."""
