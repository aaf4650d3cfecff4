-- The kind of text of a memory, for ranking; and changes of the memory itself in the change log.

ALTER TABLE memory ADD COLUMN traits INTEGER NOT NULL DEFAULT 0;

-- A memory can have vectors of two models while one replaces the other.
CREATE TABLE memory_vector_next (
    seq INTEGER NOT NULL REFERENCES memory (seq) ON DELETE CASCADE,
    model TEXT NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (seq, model)
) STRICT, WITHOUT ROWID;
INSERT INTO memory_vector_next (seq, model, vector) SELECT seq, model, vector FROM memory_vector;
DROP TABLE memory_vector;
ALTER TABLE memory_vector_next RENAME TO memory_vector;

CREATE TRIGGER vector_added AFTER INSERT ON memory_vector BEGIN
    INSERT INTO memory_change (seq) VALUES (NEW.seq);
END;
CREATE TRIGGER vector_replaced AFTER UPDATE ON memory_vector BEGIN
    INSERT INTO memory_change (seq) VALUES (NEW.seq);
END;
CREATE TRIGGER memory_revised AFTER UPDATE ON memory BEGIN
    INSERT INTO memory_change (seq) VALUES (NEW.seq);
END;
CREATE TRIGGER memory_erased AFTER DELETE ON memory BEGIN
    INSERT INTO memory_change (seq) VALUES (OLD.seq);
END;
