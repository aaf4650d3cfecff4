"""Files under one root: no path or symbolic link leads out of it, and each change is atomic."""
