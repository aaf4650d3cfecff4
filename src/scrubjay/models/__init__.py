"""Embedding and completion, and their providers."""
