"""Tool names that exist only for clients of Mimir."""
