"""Embedding and completion models, their providers and circuit breakers."""
