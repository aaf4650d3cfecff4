-- Number of times each memory was returned, and the last time. In a table of its own, so that recording a use is not a
-- change of the memory, which every copy would have to follow.
CREATE TABLE memory_use (
    seq INTEGER PRIMARY KEY REFERENCES memory (seq) ON DELETE CASCADE,
    uses INTEGER NOT NULL,
    used_at INTEGER NOT NULL
) STRICT;

-- Only searches for exact wording still read the text index: fewer merges make faster writes.
INSERT INTO memory_terms (memory_terms, rank) VALUES ('automerge', 8);
INSERT INTO memory_terms (memory_terms, rank) VALUES ('crisismerge', 16);
DROP TABLE memory_vocabulary;
