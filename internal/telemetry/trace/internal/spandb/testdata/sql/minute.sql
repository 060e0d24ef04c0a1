-- org = 01000000-0000-0000-0000-00000000000a
-- minute = 1772280000
-- start = 1772366430000000
-- limit = 100
SELECT toUnixTimestamp64Micro(min(first_start)) AS first, trace_id
FROM trace_starts
WHERE org_id = @org AND minute = toDateTime(@minute, 'UTC')
GROUP BY trace_id
HAVING (first, trace_id) < (@start, '\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00')
ORDER BY first DESC, trace_id DESC
LIMIT @limit
