-- How often each memory was given as an answer, and when last. Apart from the memory, so that noting a use is no change
-- that every copy of the memory has to follow.
CREATE TABLE memory_use (
    seq INTEGER PRIMARY KEY REFERENCES memory (seq) ON DELETE CASCADE,
    uses INTEGER NOT NULL,
    used_at INTEGER NOT NULL
) STRICT;

-- Searches do not read the text index any more, except for exact wording: fewer merges make faster writes.
INSERT INTO memory_terms (memory_terms, rank) VALUES ('automerge', 8);
INSERT INTO memory_terms (memory_terms, rank) VALUES ('crisismerge', 16);
DROP TABLE memory_vocabulary;
