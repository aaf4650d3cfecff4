"""Export and import memories, summaries, tasks and goals, in our own file format and from other programs.

An export is a snapshot with a checksum and is read back before it is published. A file is read to its end and
validated before an import changes anything; importing twice adds nothing, and an import continues after a crash.
Vectors are not exported, and files outside the allowed folders are neither read nor written.
"""
