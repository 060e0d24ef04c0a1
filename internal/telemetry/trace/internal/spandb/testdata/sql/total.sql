-- org = 01000000-0000-0000-0000-00000000000a
-- first = 1772280030000000
-- last = 1772366430000000
SELECT count() FROM (
  SELECT trace_id FROM traces
  WHERE org_id = @org AND month >= toStartOfMonth(fromUnixTimestamp64Micro(@first, 'UTC')) - INTERVAL 1 MONTH AND month <= toStartOfMonth(fromUnixTimestamp64Micro(@last, 'UTC'))
  GROUP BY trace_id
  HAVING min(first_start) >= fromUnixTimestamp64Micro(@first, 'UTC') AND min(first_start) <= fromUnixTimestamp64Micro(@last, 'UTC'))
