"""Conversation turns of an agent: record, list and query them."""
