"""Store, list and search conversation turns of an agent, with the tool names and fields of Neo.

A turn is a memory of kind `turn` with prompt, thought and response. The feature does not record turns by itself: a
client or a hook calls it.
"""
