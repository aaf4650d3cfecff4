"""Summaries of sessions, days and weeks, composed by rules or written by a language model.

Each summary states its method, and its turns are never changed or deleted. Without a language model a summary consists
of original sentences; nothing is invented. Summaries are memories, so recall finds them.
"""
