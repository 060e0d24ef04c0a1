-- org = 01000000-0000-0000-0000-00000000000a
WITH
  argMaxIf((asks, leads, span_id, toUnixTimestamp64Micro(start_time), version, input_preview), bitShiftLeft(toUInt256(asks), 144) + authority, input_preview != '') AS input,
  argMaxIf((answers, leads, span_id, toUnixTimestamp64Micro(start_time), version, output_preview), bitShiftLeft(toUInt256(answers), 208) + bitShiftLeft(toUInt256(answered), 144) + authority, output_preview != '') AS output
SELECT
  trace_id,
  toUnixTimestamp64Micro(min(start_time)) AS t_first,
  toUnixTimestamp64Micro(max(start_time)) AS t_last,
  toUnixTimestamp64Micro(max(if(state = 'ended', start_time + toIntervalMicrosecond(duration_us), toDateTime64(0, 6, 'UTC')))) AS t_last_end,
  toUnixTimestamp64Milli(max(ingested_at)) AS t_ingested,
  max(rank) AS t_rank,
  argMax(toString(name), authority) AS t_name,
  toBool(t_rank > 0 AND argMax(state, authority) = 'ended') AS t_ended,
  toBool(argMax(status, authority) = 'error') AS t_failed,
  toUnixTimestamp64Micro(argMax(start_time + toIntervalMicrosecond(duration_us), authority)) AS t_end,
  argMaxIf(toString(service_name), authority, service_name != '') AS t_service,
  argMaxIf(toString(environment), authority, environment != '') AS t_environment,
  argMaxIf(toString(release_id), authority, release_id != '') AS t_release,
  argMaxIf(toString(agent_name), authority, agent_name != '') AS t_agent,
  argMaxIf(conversation_id, authority, conversation_id != '') AS t_conversation,
  argMaxIf(user_id, authority, user_id != '') AS t_user,
  arraySort(groupUniqArrayArray(arrayMap(x -> toString(x), tags))) AS t_tags,
  argMaxIf(metadata, authority, rank > 0 AND metadata != '') AS t_metadata,
  countIf(rank < 3) AS t_spans,
  countIf(rank < 3 AND status = 'error') AS t_errors,
  sumIf(input_tokens, spends) AS t_input_tokens,
  sumIf(output_tokens, spends) AS t_output_tokens,
  sumIf(cached_tokens, spends) AS t_cached_tokens,
  sumIf(reasoning_tokens, spends) AS t_reasoning_tokens,
  sumIf(cost_nano_usd, spends AND cost_known) AS t_cost,
  maxIf(cost_known, spends) AS t_cost_known,
  input.1, input.2, input.3, input.4, input.5, input.6,
  output.1, output.2, output.3, output.4, output.5, output.6
FROM (
SELECT trace_id, span_id, parent_span_id, start_time, duration_us, state, status, primitive_type, name, service_name, environment, release_id, agent_name,
    conversation_id, user_id, input_tokens, output_tokens, cached_tokens, reasoning_tokens, cost_nano_usd, cost_known, tags,
    input_preview, output_preview, ingested_at, version, entry, metadata,
  multiIf(span_id = toFixedString('', 8), 3, parent_span_id = toFixedString('', 8), 2, entry, 1, 0) AS rank,
  rank < 3 AND primitive_type NOT IN ('agent_invocation', 'workflow') AS spends,
  bitShiftLeft(toUInt256(rank), 128) + bitShiftLeft(toUInt256(if(rank > 1, version, bitNot(toUInt64(toUnixTimestamp64Micro(start_time))))), 64) + reinterpretAsUInt64(reverse(span_id)) AS authority,
  multiIf(rank > 1, 4, entry AND primitive_type != 'tool_call', 1, 0) AS describes,
  if(describes = 0 AND primitive_type = 'model_call', 2, describes) AS asks,
  if(describes = 0 AND primitive_type IN ('model_call', 'agent_invocation'), 2, describes) AS answers,
  if(answers = 2, toUInt64(toUnixTimestamp64Micro(start_time)) + duration_us, 0) AS answered,
  rank < 3 AND primitive_type IN ('agent_invocation', 'workflow', '') AS leads
FROM (
  SELECT trace_id, span_id, parent_span_id, start_time, duration_us, state, status, primitive_type, name, service_name, environment, release_id, agent_name,
    conversation_id, user_id, input_tokens, output_tokens, cached_tokens, reasoning_tokens, cost_nano_usd, cost_known, tags,
    input_preview, output_preview, ingested_at, version,
    (kind IN ('server', 'consumer') OR attrs_json['assay.remote_parent'] = 'true') AS entry, if(attrs_json['assay.metadata'] != '', attrs_json['assay.metadata'], attrs_json['metadata']) AS metadata
  FROM spans
  PREWHERE trace_id IN ('\xab\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01')
  WHERE org_id = @org AND (toStartOfMinute(start_time), xxHash32(trace_id)) IN ((1772366400, 382839391), (1772366460, 382839391), (1772366520, 382839391))
  ORDER BY version DESC
  LIMIT 1 BY trace_id, span_id))
GROUP BY trace_id
