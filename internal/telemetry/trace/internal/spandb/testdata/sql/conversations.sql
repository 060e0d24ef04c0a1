-- org = 01000000-0000-0000-0000-00000000000a
-- from = 1772280030000000
-- to = 1772366430000000
SELECT conversation_id, toUnixTimestamp64Micro(max(start_time)) AS last, cityHash64(conversation_id) AS hash
FROM spans
WHERE org_id = @org AND start_time >= fromUnixTimestamp64Micro(@from, 'UTC') AND start_time <= fromUnixTimestamp64Micro(@to, 'UTC')
  AND conversation_id != ''
GROUP BY conversation_id
ORDER BY last DESC, hash DESC
LIMIT 0, 51
