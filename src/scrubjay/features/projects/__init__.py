"""Projects: the scope of memories, sessions and tasks that belong to one repository or folder."""
