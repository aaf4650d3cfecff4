"""Messages between agents: questions, replies and their history."""
