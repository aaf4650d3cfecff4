"""List the files of a repository or folder at one moment, and read their contents, without running any of its code."""
