-- org = 01000000-0000-0000-0000-00000000000a
-- from = 1772280030000000
-- to = 1772366430000000
SELECT uniqExact(conversation_id)
FROM spans
WHERE org_id = @org AND start_time >= fromUnixTimestamp64Micro(@from, 'UTC') AND start_time <= fromUnixTimestamp64Micro(@to, 'UTC')
  AND conversation_id != ''
