"""One module or folder per protocol, each a projection of the one list of tools. Nothing is decided here."""
