-- org = 01000000-0000-0000-0000-00000000000a
SELECT trace_id, toUnixTimestamp64Micro(start_time), span_id, version, input, output, system, tools, events, links
FROM span_payloads
WHERE org_id = @org AND (trace_id, start_time, span_id) IN (('\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00', fromUnixTimestamp64Micro(1772366430000000, 'UTC'), '\x02\x00\x00\x00\x00\x00\x00\x00'))
