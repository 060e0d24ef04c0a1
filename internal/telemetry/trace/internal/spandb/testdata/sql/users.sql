-- org = 01000000-0000-0000-0000-00000000000a
-- from = 1772280030000000
-- to = 1772366430000000
-- environment = production
-- last = 1772366430000000
-- hash = 7
SELECT user_id, toUnixTimestamp64Micro(max(start_time)) AS last, cityHash64(user_id) AS hash
FROM spans
WHERE org_id = @org AND start_time >= fromUnixTimestamp64Micro(@from, 'UTC') AND start_time <= fromUnixTimestamp64Micro(@to, 'UTC')
  AND user_id != ''
  AND trace_id IN (SELECT trace_id FROM spans WHERE org_id = @org AND start_time >= fromUnixTimestamp64Micro(@from, 'UTC') AND start_time <= fromUnixTimestamp64Micro(@to, 'UTC') AND environment = @environment)
GROUP BY user_id
HAVING (last, hash) < (@last, @hash)
ORDER BY last DESC, hash DESC
LIMIT 0, 51
