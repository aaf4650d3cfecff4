"""The Model Context Protocol over stdio and HTTP, for clients of the handshake era and of the modern era."""
