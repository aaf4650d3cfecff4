"""Client sessions: briefing at the start, history of tool calls, recap and export.

Calls of identified clients are recorded in batches without delaying them; excerpts are masked, and erased with the
memories they mention. The last calls before a kill can be missing, and full arguments and results are never stored.
"""
