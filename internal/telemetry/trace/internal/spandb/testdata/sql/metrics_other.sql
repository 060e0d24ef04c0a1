-- org = 01000000-0000-0000-0000-00000000000a
-- shown = [a b]
-- from = 1772280030000001
-- to = 1772366429999999
SELECT
  toBool(has(@shown, toString(model))) AS apart, if(apart, toString(model), '') AS key, toUnixTimestamp(toStartOfInterval(start_time, INTERVAL 60 MINUTE)) AS at,
  toBool(grouping(at) = 0) AS point,
  count() AS spans, countIf(status = 'error') AS errors, uniqCombined64(trace_id) AS traces,
  sumIf(input_tokens, primitive_type NOT IN ('agent_invocation', 'workflow')) AS input_tokens, sumIf(output_tokens, primitive_type NOT IN ('agent_invocation', 'workflow')) AS output_tokens,
  sumIf(cost_nano_usd, cost_known AND primitive_type NOT IN ('agent_invocation', 'workflow')) AS cost, countIf(cost_known AND primitive_type NOT IN ('agent_invocation', 'workflow')) AS costs,
  countIf(state = 'ended') AS ended, quantilesDDIf(0.005, 0.5, 0.9, 0.95, 0.99)(duration_us, state = 'ended') AS latency,
  countIf(first_token_us > 0) AS streamed, quantilesDDIf(0.005, 0.5, 0.9, 0.95, 0.99)(first_token_us, first_token_us > 0) AS first_token
FROM spans FINAL
WHERE org_id = @org AND start_time >= fromUnixTimestamp64Micro(@from, 'UTC') AND start_time <= fromUnixTimestamp64Micro(@to, 'UTC') AND span_id != toFixedString('', 8)
GROUP BY GROUPING SETS ((apart, key), (apart, key, at))
HAVING spans > 0
ORDER BY point, at
LIMIT 50102
