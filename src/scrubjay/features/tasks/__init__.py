"""Track tasks with subtasks, and goals with milestones, per project or globally.

The progress of a goal follows from its milestones, if it has any. Texts pass the secrets policy and quota before they
are stored. Tasks and goals are separate from memories: recall does not find them, and nothing is scheduled.
"""
