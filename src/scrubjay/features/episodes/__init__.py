"""Record what agents do for a task as episodes: steps, outcome, reward, quality and a rule-based reflection.

A recorded step is durable when the call returns, and a completed episode is stored together with the patterns learned
from it, in one transaction. The feature needs no language model, and neither reads nor writes memories.
"""
