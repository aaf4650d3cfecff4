"""Client sessions: their history, the briefing at the start, recap and export."""
