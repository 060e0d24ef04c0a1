-- org = 01000000-0000-0000-0000-00000000000a
-- low = 1772280000
-- high = 1772366400
-- limit = 100
SELECT toInt64(toUnixTimestamp(minute)), trace_id
FROM trace_starts
WHERE org_id = @org AND minute >= toDateTime(@low, 'UTC') AND minute <= toDateTime(@high, 'UTC')
ORDER BY minute DESC
LIMIT @limit
