"""Store, recall, correct and erase memories: facts, turns, summaries and corrections.

A write is durable when the call returns, and a search sees it at once, in every process. A search returns only memories
that are relevant to the question, possibly none. The service depends on no protocol and on no particular database.
"""
