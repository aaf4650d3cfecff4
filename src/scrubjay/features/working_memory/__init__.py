"""Short-lived items of one session, which may be consolidated into memories before they expire.

An item that is important enough, or marked by a caller, becomes a memory before it expires; the others are dropped.
Items are visible only in their session, and recall does not find them. `think` and `plan` use separate items.
"""
