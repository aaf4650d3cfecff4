"""Decay and eviction of memories, as far as the operator allows it."""
