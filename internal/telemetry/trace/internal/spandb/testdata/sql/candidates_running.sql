-- org = 01000000-0000-0000-0000-00000000000a
-- low = 1772280000
-- high = 1772366400
-- limit = 100
-- idle = 1000
-- since = 1772280000
SELECT toInt64(toUnixTimestamp(minute)), trace_id
FROM trace_starts
WHERE org_id = @org AND minute >= toDateTime(@low, 'UTC') AND minute <= toDateTime(@high, 'UTC')
  AND trace_id IN (
    SELECT trace_id FROM trace_starts WHERE org_id = @org AND minute >= toDateTime(@since, 'UTC') AND last_ingest >= fromUnixTimestamp64Milli(@idle, 'UTC'))
ORDER BY minute DESC
LIMIT @limit
