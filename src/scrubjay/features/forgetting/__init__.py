"""Decay and eviction of memories.

The strength of a memory decays with time; weak, old or excess memories can be erased automatically. By default nothing
is: the operator has to enable it. Protected and very important memories are never erased.
"""
