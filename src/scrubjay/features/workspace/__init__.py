"""Access to the server's machine and the web: files under one root, allowlisted programs, the screen, public pages."""
