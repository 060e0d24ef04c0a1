-- org = 01000000-0000-0000-0000-00000000000a
SELECT trace_id, toUnixTimestamp64Micro(min(first_start)), toUnixTimestamp64Micro(max(last_start)), toUnixTimestamp64Milli(min(first_ingest))
FROM traces
WHERE org_id = @org AND trace_id IN ('\xab\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01', '\xcd\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02')
GROUP BY trace_id
