"""What is told of an index beside its answers: its status, manifest and log, and all of it in one file."""
