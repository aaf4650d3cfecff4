"""Build and update the index of a repository: workers, linking, watching."""
