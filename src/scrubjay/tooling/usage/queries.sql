-- add --
-- Add to the call count of a tool.
INSERT INTO tool_usage (tool, calls) VALUES (:tool, :calls)
ON CONFLICT (tool) DO UPDATE SET calls = calls + excluded.calls

-- counts --
-- Number of calls of each tool.
SELECT tool, calls FROM tool_usage ORDER BY tool
