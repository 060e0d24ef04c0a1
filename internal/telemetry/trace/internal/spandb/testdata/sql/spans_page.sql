-- org = 01000000-0000-0000-0000-00000000000a
-- after = 1772366430000000
SELECT trace_id, span_id, parent_span_id, toUnixTimestamp64Micro(start_time), duration_us, toInt8(state), toInt8(status), status_message,
  toInt8(kind), primitive_type, name, service_name, environment, release_id, agent_name, model, provider, tool_name, conversation_id, user_id,
  input_tokens, output_tokens, cached_tokens, reasoning_tokens, cost_nano_usd, cost_known, first_token_us, tags, attrs, attrs_json, resource,
  toUnixTimestamp64Milli(ingested_at), version
FROM spans
PREWHERE trace_id IN ('\xab\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01')
  WHERE org_id = @org AND (toStartOfMinute(start_time), xxHash32(trace_id)) IN ((1772366400, 382839391), (1772366460, 382839391), (1772366520, 382839391))
  AND (trace_id, span_id, version) IN (
    SELECT trace_id, span_id, newest FROM (
    SELECT trace_id, span_id, max(version) AS newest, argMax(start_time, version) AS at
    FROM spans
  PREWHERE trace_id IN ('\xab\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01')
  WHERE org_id = @org AND (toStartOfMinute(start_time), xxHash32(trace_id)) IN ((1772366400, 382839391), (1772366460, 382839391), (1772366520, 382839391)) AND span_id != toFixedString('', 8)
    GROUP BY trace_id, span_id
    HAVING (toUnixTimestamp64Micro(at), span_id) > (@after, '\x07\x00\x00\x00\x00\x00\x00\x00'))
    ORDER BY trace_id, at, span_id
    LIMIT 20, 51 BY trace_id)
ORDER BY trace_id, start_time, span_id
LIMIT 1 BY trace_id, span_id
