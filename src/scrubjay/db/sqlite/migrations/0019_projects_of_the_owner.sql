-- Projects that the owner set: callers with a key may index the code of these by default. Where keys exist already, it is
-- unknown who set a project, so the owner must set it once more.
ALTER TABLE project ADD COLUMN set_by_owner INTEGER NOT NULL DEFAULT 0 CHECK (set_by_owner IN (0, 1));
UPDATE project SET set_by_owner = 1 WHERE NOT EXISTS (SELECT 1 FROM access_key);
