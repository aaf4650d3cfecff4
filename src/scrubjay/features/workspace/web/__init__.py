"""The public web: fetch pages without access to private networks, convert them to Markdown, and search."""
