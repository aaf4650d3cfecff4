"""Show what is on the screen: windows and their elements, or logged-in users and processes. Read-only."""
