"""Routes, response shapes and settings that exist only for clients of Mimo's gateway."""
