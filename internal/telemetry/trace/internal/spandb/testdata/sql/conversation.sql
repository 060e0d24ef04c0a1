-- org = 01000000-0000-0000-0000-00000000000a
-- from = 1772280030000000
-- to = 1772452830000000
-- conversation = c-1
-- limit = 100
SELECT DISTINCT trace_id
FROM spans
WHERE org_id = @org AND start_time >= fromUnixTimestamp64Micro(@from, 'UTC') AND start_time <= fromUnixTimestamp64Micro(@to, 'UTC') AND conversation_id = @conversation
LIMIT @limit
