"""Understanding of source code: what a repository holds, how it hangs together, and where to look."""
