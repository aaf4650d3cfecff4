"""Tools: declaration, registry, dispatch, events and jobs. Knows no protocol and no feature."""
