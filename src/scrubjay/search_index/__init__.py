"""Word and vector search in memory-mapped files that can be rebuilt from the store. Knows no database.

Imports numpy, which is slow to import: load these modules late.
"""
