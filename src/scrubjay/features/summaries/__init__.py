"""Summaries of sessions, days and weeks, by rules or by a language model."""
