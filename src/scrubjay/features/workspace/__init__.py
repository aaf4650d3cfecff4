"""What an agent does outside of its memory: files under one root, programs of a list, pages of the public web."""
