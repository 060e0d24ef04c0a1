-- org = 01000000-0000-0000-0000-00000000000a
-- from = 1772366430000000
-- to = 1772366520000000
-- limit = 100
SELECT trace_id, toUnixTimestamp64Micro(start_time), span_id, version, input, output, system, tools, events, links
FROM span_payloads
WHERE org_id = @org AND trace_id IN ('\xab\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01', '\xcd\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02') AND start_time >= fromUnixTimestamp64Micro(@from, 'UTC') AND start_time <= fromUnixTimestamp64Micro(@to, 'UTC')
ORDER BY trace_id, start_time, span_id
LIMIT @limit
