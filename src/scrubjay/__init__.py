"""Scrubjay: one local-first server that gives AI agents a memory and an understanding of code."""

__version__ = "0.1.0"
