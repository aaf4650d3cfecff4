"""The embedding model in use: choose it, test it, and switch to another while the old one stays active."""
