-- org = 01000000-0000-0000-0000-00000000000a
SELECT trace_id, span_id, parent_span_id, toUnixTimestamp64Micro(start_time), duration_us, toInt8(state), toInt8(status), toInt8(kind),
  primitive_type, name, service_name, environment, release_id, agent_name, conversation_id, user_id,
  input_tokens, output_tokens, cached_tokens, reasoning_tokens, cost_nano_usd, cost_known, tags, input_preview, output_preview,
  attrs_json['assay.remote_parent'], attrs_json['assay.metadata'], attrs_json['metadata'],
  toUnixTimestamp64Milli(ingested_at), version
FROM spans
PREWHERE trace_id IN ('\xab\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01', '\xcd\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02')
  WHERE org_id = @org AND (toStartOfMinute(start_time), xxHash32(trace_id)) IN ((1772366400, 382839391), (1772366460, 382839391), (1772366520, 382839391), (1772366340, 1110806933), (1772366400, 1110806933))
LIMIT 100
