-- org = 01000000-0000-0000-0000-00000000000a
-- from = 1772280030000001
-- to = 1772366429999999
SELECT toString(model) AS key
FROM spans
WHERE org_id = @org AND start_time >= fromUnixTimestamp64Micro(@from, 'UTC') AND start_time <= fromUnixTimestamp64Micro(@to, 'UTC') AND span_id != toFixedString('', 8)
GROUP BY key
ORDER BY count() DESC, key
LIMIT 101
