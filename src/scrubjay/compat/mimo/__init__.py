"""Routes and shapes that exist only for clients of Mimo's gateway."""
