"""Work with several repositories: search all of them, and find which use packages that another one defines."""
