-- org = 01000000-0000-0000-0000-00000000000a
-- from = 1772280030000000
-- to = 1772366430000000
-- user = u'1
-- environment = production
-- service = web
-- last = 1772366430000000
-- hash = 7
SELECT conversation_id, toUnixTimestamp64Micro(max(start_time)) AS last, cityHash64(conversation_id) AS hash
FROM spans
WHERE org_id = @org AND start_time >= fromUnixTimestamp64Micro(@from, 'UTC') AND start_time <= fromUnixTimestamp64Micro(@to, 'UTC')
  AND conversation_id != ''
  AND trace_id IN (SELECT trace_id FROM spans WHERE org_id = @org AND start_time >= fromUnixTimestamp64Micro(@from, 'UTC') AND start_time <= fromUnixTimestamp64Micro(@to, 'UTC') AND user_id = @user)
  AND trace_id IN (SELECT trace_id FROM spans WHERE org_id = @org AND start_time >= fromUnixTimestamp64Micro(@from, 'UTC') AND start_time <= fromUnixTimestamp64Micro(@to, 'UTC') AND environment = @environment)
  AND trace_id IN (SELECT trace_id FROM spans WHERE org_id = @org AND start_time >= fromUnixTimestamp64Micro(@from, 'UTC') AND start_time <= fromUnixTimestamp64Micro(@to, 'UTC') AND service_name = @service)
GROUP BY conversation_id
HAVING (last, hash) < (@last, @hash)
ORDER BY last DESC, hash DESC
LIMIT 20, 51
