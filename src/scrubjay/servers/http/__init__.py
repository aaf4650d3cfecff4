"""The HTTP server edge shared by every HTTP protocol: middleware, limits, errors, transport."""
