"""Names, shapes and routes of the five seed systems. Each subfolder can be deleted on its own."""
