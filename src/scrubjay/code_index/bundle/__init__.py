"""Export an index: its status, manifest and build log, and a bundle, which is all of them in one file."""
