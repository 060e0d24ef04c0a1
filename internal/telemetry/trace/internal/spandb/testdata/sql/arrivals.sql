-- org = 01000000-0000-0000-0000-00000000000a
-- low = 1772280000
-- after = 1772366430000
-- until = 1772366445000
-- limit = 100
SELECT toUnixTimestamp64Milli(max(last_ingest)) AS last, trace_id
FROM trace_starts
WHERE org_id = @org AND minute >= toDateTime(@low, 'UTC') AND last_ingest >= fromUnixTimestamp64Milli(@after, 'UTC')
GROUP BY trace_id
HAVING (last, trace_id) > (@after, '\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00') AND last <= @until
ORDER BY last, trace_id
LIMIT @limit
