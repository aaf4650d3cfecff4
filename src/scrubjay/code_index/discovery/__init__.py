"""Which files a repository or folder has at one moment, and what is in them; nothing of the repository is ever run."""
