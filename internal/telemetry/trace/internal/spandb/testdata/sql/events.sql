-- org = 01000000-0000-0000-0000-00000000000a
-- limit = 100
SELECT trace_id, span_id, toUnixTimestamp64Micro(time), name, severity, body, attributes
FROM span_events
WHERE org_id = @org AND trace_id IN ('\xab\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01')
ORDER BY trace_id, time, span_id, event_id
LIMIT 1 BY trace_id, span_id, time, event_id
LIMIT @limit
