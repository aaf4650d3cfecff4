-- add --
-- Count some more calls of a tool.
INSERT INTO tool_usage (tool, calls) VALUES (:tool, :calls)
ON CONFLICT (tool) DO UPDATE SET calls = calls + excluded.calls

-- counts --
-- How often each tool was called.
SELECT tool, calls FROM tool_usage ORDER BY tool
