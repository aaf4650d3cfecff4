"""Count how often each tool is called."""
