-- What is forgotten must not live on in the results of old jobs: these are the memories that each ended job told of.
CREATE TABLE job_memory (
    memory_id TEXT NOT NULL,
    job_seq INTEGER NOT NULL REFERENCES job (seq) ON DELETE CASCADE,
    PRIMARY KEY (memory_id, job_seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX job_memory_by_job ON job_memory (job_seq);

-- Until now only one tool had texts of memories in its result.
INSERT INTO job_memory (memory_id, job_seq)
SELECT DISTINCT told.atom, job.seq
FROM job JOIN json_tree(job.result) AS told
WHERE job.kind = 'summarize_sessions' AND job.result IS NOT NULL AND told.key = 'memoryId' AND told.type = 'text';

UPDATE job SET payload = '{}', result = NULL, error = NULL, message = 'what it told of was forgotten'
WHERE seq IN (
    SELECT job_seq FROM job_memory WHERE NOT EXISTS (SELECT 1 FROM memory WHERE memory.id = job_memory.memory_id)
);
DELETE FROM job_memory WHERE NOT EXISTS (SELECT 1 FROM memory WHERE memory.id = job_memory.memory_id);

CREATE TRIGGER jobs_forget AFTER DELETE ON memory BEGIN
    UPDATE job SET payload = '{}', result = NULL, error = NULL, message = 'what it told of was forgotten'
    WHERE seq IN (SELECT job_seq FROM job_memory WHERE memory_id = OLD.id);
    DELETE FROM job_memory WHERE memory_id = OLD.id;
END;

-- Nor in working memory, where what became a memory stays until it expires.
CREATE INDEX working_item_by_memory ON working_item (memory_id) WHERE memory_id IS NOT NULL;
CREATE TRIGGER items_forget AFTER DELETE ON memory BEGIN
    DELETE FROM working_item WHERE memory_id = OLD.id;
END;

-- Nor in calls that quoted memories without naming them, of which no answer is kept any more.
UPDATE tool_call SET result = ''
WHERE success AND tool IN (
    'session_start', 'session_history', 'get_session_recap', 'end_session', 'export_session', 'ask_mimo'
);
