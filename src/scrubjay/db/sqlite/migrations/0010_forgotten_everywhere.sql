-- The memories named by each ended job, so that forgetting a memory also erases it from job results.
CREATE TABLE job_memory (
    memory_id TEXT NOT NULL,
    job_seq INTEGER NOT NULL REFERENCES job (seq) ON DELETE CASCADE,
    PRIMARY KEY (memory_id, job_seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX job_memory_by_job ON job_memory (job_seq);

-- Before this migration, only one tool had memories in its job results.
INSERT INTO job_memory (memory_id, job_seq)
SELECT DISTINCT node.atom, job.seq
FROM job JOIN json_tree(job.result) AS node
WHERE job.kind = 'summarize_sessions' AND job.result IS NOT NULL AND node.key = 'memoryId' AND node.type = 'text';

UPDATE job SET payload = '{}', result = NULL, error = NULL, message = 'erased: it named a forgotten memory'
WHERE seq IN (
    SELECT job_seq FROM job_memory WHERE NOT EXISTS (SELECT 1 FROM memory WHERE memory.id = job_memory.memory_id)
);
DELETE FROM job_memory WHERE NOT EXISTS (SELECT 1 FROM memory WHERE memory.id = job_memory.memory_id);

CREATE TRIGGER jobs_forget AFTER DELETE ON memory BEGIN
    UPDATE job SET payload = '{}', result = NULL, error = NULL, message = 'erased: it named a forgotten memory'
    WHERE seq IN (SELECT job_seq FROM job_memory WHERE memory_id = OLD.id);
    DELETE FROM job_memory WHERE memory_id = OLD.id;
END;

-- Also erase items of working memory that were consolidated into the memory; they would stay until they expire.
CREATE INDEX working_item_by_memory ON working_item (memory_id) WHERE memory_id IS NOT NULL;
CREATE TRIGGER items_forget AFTER DELETE ON memory BEGIN
    DELETE FROM working_item WHERE memory_id = OLD.id;
END;

-- These tools quote memories without naming their ids, so their results are no longer stored.
UPDATE tool_call SET result = ''
WHERE success AND tool IN (
    'session_start', 'session_history', 'get_session_recap', 'end_session', 'export_session', 'ask_mimo'
);
