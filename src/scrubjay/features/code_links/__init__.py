"""Links from memories to code: find the code that a memory is about, and detect when that code changes."""
