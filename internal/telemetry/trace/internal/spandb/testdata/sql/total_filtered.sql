-- org = 01000000-0000-0000-0000-00000000000a
-- first = 1772280030000000
-- last = 1772366430000000
-- idle = 1000
-- status = [failed]
-- conversation = c-1
-- user = u'1
-- environment = production
-- agent = helper
-- release = r-1
-- tag = beta
-- duration = 2000000
-- search = Refund policy?
-- words = [refund policy]
-- from = 1772280030000000
-- to = 1772452830000000
SELECT count() FROM (
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
  multiIf(rank > 1, 4, entry AND primitive_type != 'tool_call', 3, 0) AS describes,
  if(describes = 0 AND primitive_type = 'model_call', 2, describes) AS asks,
  if(describes = 0 AND primitive_type IN ('model_call', 'agent_invocation'), 2, describes) AS answers,
  if(answers = 2, toUInt64(toUnixTimestamp64Micro(start_time)) + duration_us, 0) AS answered,
  rank < 3 AND primitive_type IN ('agent_invocation', 'workflow', '') AS leads
FROM (
  SELECT trace_id, span_id, parent_span_id, start_time, duration_us, state, status, primitive_type, name, service_name, environment, release_id, agent_name,
    conversation_id, user_id, input_tokens, output_tokens, cached_tokens, reasoning_tokens, cost_nano_usd, cost_known, tags,
    input_preview, output_preview, ingested_at, version,
    (kind IN ('server', 'consumer') OR attrs_json['assay.remote_parent'] = 'true') AS entry, if(attrs_json['assay.metadata'] != '', attrs_json['assay.metadata'], attrs_json['metadata']) AS metadata
  FROM spans FINAL
  WHERE org_id = @org AND start_time >= fromUnixTimestamp64Micro(@from, 'UTC') AND start_time <= fromUnixTimestamp64Micro(@to, 'UTC')
  AND trace_id IN (
  SELECT trace_id FROM traces
  WHERE org_id = @org AND month >= toStartOfMonth(fromUnixTimestamp64Micro(@first, 'UTC')) - INTERVAL 1 MONTH AND month <= toStartOfMonth(fromUnixTimestamp64Micro(@last, 'UTC'))
  GROUP BY trace_id
  HAVING min(first_start) >= fromUnixTimestamp64Micro(@first, 'UTC') AND min(first_start) <= fromUnixTimestamp64Micro(@last, 'UTC'))
  AND trace_id IN (
    SELECT trace_id FROM spans WHERE org_id = @org AND start_time >= fromUnixTimestamp64Micro(@from, 'UTC') AND start_time <= fromUnixTimestamp64Micro(@to, 'UTC') AND conversation_id = @conversation)
  AND trace_id IN (
    SELECT trace_id FROM spans WHERE org_id = @org AND start_time >= fromUnixTimestamp64Micro(@from, 'UTC') AND start_time <= fromUnixTimestamp64Micro(@to, 'UTC') AND user_id = @user)
  AND trace_id IN (
    SELECT trace_id FROM spans WHERE org_id = @org AND start_time >= fromUnixTimestamp64Micro(@from, 'UTC') AND start_time <= fromUnixTimestamp64Micro(@to, 'UTC') AND environment = @environment)
  AND trace_id IN (
    SELECT trace_id FROM spans WHERE org_id = @org AND start_time >= fromUnixTimestamp64Micro(@from, 'UTC') AND start_time <= fromUnixTimestamp64Micro(@to, 'UTC') AND agent_name = @agent)
  AND trace_id IN (
    SELECT trace_id FROM spans WHERE org_id = @org AND start_time >= fromUnixTimestamp64Micro(@from, 'UTC') AND start_time <= fromUnixTimestamp64Micro(@to, 'UTC') AND release_id = @release)
  AND trace_id IN (
    SELECT trace_id FROM spans WHERE org_id = @org AND start_time >= fromUnixTimestamp64Micro(@from, 'UTC') AND start_time <= fromUnixTimestamp64Micro(@to, 'UTC') AND has(tags, @tag))
  AND trace_id IN (
    SELECT trace_id FROM spans WHERE org_id = @org AND start_time >= fromUnixTimestamp64Micro(@from, 'UTC') AND start_time <= fromUnixTimestamp64Micro(@to, 'UTC') AND status = 'error')
  AND trace_id IN (
    SELECT trace_id FROM spans WHERE org_id = @org AND start_time >= fromUnixTimestamp64Micro(@from, 'UTC') AND start_time <= fromUnixTimestamp64Micro(@to, 'UTC') AND status = 'error')
  AND trace_id IN (
    SELECT trace_id FROM spans WHERE org_id = @org AND start_time >= fromUnixTimestamp64Micro(@from, 'UTC') AND start_time <= fromUnixTimestamp64Micro(@to, 'UTC') AND positionCaseInsensitiveUTF8(name, @search) > 0
    UNION DISTINCT
    SELECT trace_id FROM span_payloads WHERE org_id = @org AND start_time >= fromUnixTimestamp64Micro(@from, 'UTC') AND start_time <= fromUnixTimestamp64Micro(@to, 'UTC') AND hasAllTokens(search_text, @words)
    UNION DISTINCT
    SELECT trace_id FROM spans WHERE org_id = @org AND start_time >= fromUnixTimestamp64Micro(@from, 'UTC') AND start_time <= fromUnixTimestamp64Micro(@to, 'UTC') AND hasAnyTokens(mapValues(attrs), ['refund', 'Refund', 'REFUND']) AND hasAnyTokens(mapValues(attrs), ['policy', 'Policy', 'POLICY']))))
GROUP BY trace_id
HAVING t_conversation = @conversation AND t_user = @user AND t_environment = @environment AND t_agent = @agent AND t_release = @release AND has(t_tags, @tag) AND has(@status, multiIf(t_ended, if(t_failed, 'failed', 'completed'), t_ingested < @idle, 'completed', 'running')) AND (t_errors > 0 OR t_ended AND t_failed) AND multiIf(t_ended, t_end, t_ingested < @idle, greatest(t_last_end, t_last), t_first - 1) - t_first >= @duration)
