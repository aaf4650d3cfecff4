-- columns --
-- A pattern's fields, in the order in which `pattern_rows.pattern_from` takes them.
pattern.seq, pattern.id, pattern.project_id, pattern.task_type, pattern.domain, pattern.context, pattern.type,
pattern.form, pattern.sample, pattern.successes, pattern.times_retrieved, pattern.times_applied,
pattern.success_when_applied, pattern.failure_when_applied, pattern.avg_reward_delta, pattern.compared,
pattern.last_used, pattern.created_at, pattern.last_seen,
(
    SELECT json_group_array(id ORDER BY place)
    FROM (
        SELECT episode.id, pattern_evidence.seq AS place
        FROM pattern_evidence JOIN episode ON episode.seq = pattern_evidence.episode_seq
        WHERE pattern_evidence.pattern_seq = pattern.seq
        ORDER BY pattern_evidence.seq DESC
        LIMIT 50
    )
),
(
    SELECT json_group_array(about ORDER BY place)
    FROM (
        SELECT substr(episode.task_description, 1, 300) AS about, pattern_evidence.seq AS place
        FROM pattern_evidence JOIN episode ON episode.seq = pattern_evidence.episode_seq
        WHERE pattern_evidence.pattern_seq = pattern.seq
        ORDER BY pattern_evidence.seq DESC
        LIMIT 3
    )
)

-- visible --
-- What is of the asker's project, or of none.
(pattern.project_id IS NULL OR pattern.project_id = :project)

-- asked_for --
-- What a filter lets through.
(:task_type IS NULL OR pattern.task_type = :task_type)
AND (:domain IS NULL OR pattern.folded_domain = :domain)
AND pattern.successes >= :least * pattern.sample

-- get --
-- A pattern that the asker can see.
SELECT {columns} FROM pattern WHERE pattern.id = :id AND {visible}

-- alike --
-- Patterns of one kind, domain and sort of work, of one project or of none.
SELECT {columns} FROM pattern
WHERE pattern.project_id IS :project AND pattern.folded_domain = :domain AND pattern.type = :type
    AND pattern.task_type = :task_type
ORDER BY pattern.last_seen DESC
LIMIT :limit

-- find --
-- What passes, most often seen first.
SELECT {columns} FROM pattern WHERE {visible} AND {asked_for} ORDER BY pattern.sample DESC, pattern.seq

-- candidates --
-- What passes, with its meaning.
SELECT pattern_vector.vector, {columns}
FROM pattern LEFT JOIN pattern_vector ON pattern_vector.seq = pattern.seq AND pattern_vector.model = :model
WHERE {visible} AND {asked_for}
ORDER BY pattern.seq

-- set_vector --
-- The meaning of a pattern that is still there.
INSERT OR REPLACE INTO pattern_vector (seq, model, vector)
SELECT seq, :model, :vector FROM pattern WHERE id = :id

-- retrieved --
-- One more time told.
UPDATE pattern SET times_retrieved = times_retrieved + 1, last_used = :at
WHERE id IN (SELECT value FROM json_each(:ids))

-- recommend --
-- For an episode that is not complete yet; whoever asks has seen both.
INSERT OR IGNORE INTO pattern_recommendation (episode_seq, pattern_seq)
SELECT episode.seq, pattern.seq FROM pattern, episode
WHERE pattern.id IN (SELECT value FROM json_each(:ids)) AND episode.id = :episode AND episode.end_time IS NULL

-- recommended --
-- The ids of patterns that an episode was begun with.
SELECT pattern.id FROM pattern_recommendation JOIN pattern ON pattern.seq = pattern_recommendation.pattern_seq
WHERE pattern_recommendation.episode_seq = :episode_seq

-- unlearned --
-- Complete episodes that nothing was looked for in.
SELECT id, project_id FROM episode
WHERE end_time IS NOT NULL AND seq NOT IN (SELECT seq FROM learned_episode)
ORDER BY seq
LIMIT :limit

-- episode_place --
-- Where an episode is.
SELECT seq FROM episode WHERE id = :id

-- is_learned --
-- Whether an episode was looked at.
SELECT EXISTS (SELECT 1 FROM learned_episode WHERE seq = :seq)

-- learned --
-- Remember that an episode was looked at.
INSERT OR IGNORE INTO learned_episode (seq) VALUES (:seq)

-- known --
-- A pattern of this very project, or of none.
SELECT {columns} FROM pattern WHERE pattern.id = :id AND pattern.project_id IS :project

-- add --
-- Keep a new pattern.
INSERT INTO pattern (
    id, project_id, type, task_type, domain, folded_domain, context, form, sample, successes, created_at, last_seen
)
VALUES (
    :id, :project_id, :type, :task_type, :domain, :folded_domain, :context, :form, :sample, :successes, :created_at,
    :last_seen
)
RETURNING seq

-- grow --
-- Write what one more episode adds.
UPDATE pattern SET context = :context, form = :form, sample = :sample, successes = :successes, last_seen = :last_seen
WHERE seq = :seq

-- forget_vector --
-- It is about more than before.
DELETE FROM pattern_vector WHERE seq = :seq

-- bear_out --
-- An episode shows a pattern.
INSERT OR IGNORE INTO pattern_evidence (pattern_seq, episode_seq, has_its_words)
VALUES (:pattern_seq, :episode_seq, :has_its_words)

-- apply --
-- Write what became of a pattern.
UPDATE pattern
SET times_applied = :times_applied, success_when_applied = :success_when_applied,
    failure_when_applied = :failure_when_applied, avg_reward_delta = :avg_reward_delta, compared = :compared,
    last_used = :last_used
WHERE seq = :seq

-- usual_reward --
-- The mean reward of the other complete episodes of a project and domain; null without any.
SELECT avg(reward) FROM episode
WHERE project_id IS :project AND folded_domain = :domain AND end_time IS NOT NULL AND seq <> :seq

-- qualities --
-- How good complete episodes were.
SELECT end_time, quality FROM episode
WHERE (project_id IS NULL OR project_id = :project) AND end_time IS NOT NULL AND quality IS NOT NULL
    AND (:since IS NULL OR end_time >= :since)
ORDER BY end_time DESC
LIMIT :limit

-- episode_counts --
-- What there is of episodes, by how they ended.
SELECT outcome_type, count(*), sum(steps) FROM episode
WHERE project_id IS NULL OR project_id = :project
GROUP BY outcome_type

-- averages --
-- What complete episodes are like.
SELECT avg(reward), avg(quality), avg(end_time - start_time) / 1e6 FROM episode
WHERE (project_id IS NULL OR project_id = :project) AND end_time IS NOT NULL

-- pattern_counts --
-- How many patterns there are of each kind.
SELECT type, count(*) FROM pattern WHERE {visible} GROUP BY type
