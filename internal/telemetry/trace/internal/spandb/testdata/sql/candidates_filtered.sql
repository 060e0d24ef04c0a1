-- org = 01000000-0000-0000-0000-00000000000a
-- low = 1772280000
-- high = 1772366400
-- limit = 100
-- conversation = c-1
-- user = u'1
-- environment = production
-- agent = helper
-- release = r-1
-- tag = beta
-- search = Refund policy?
-- words = [refund policy]
-- from = 1772280030000000
-- to = 1772452830000000
SELECT toInt64(toUnixTimestamp(minute)), trace_id
FROM trace_starts
WHERE org_id = @org AND minute >= toDateTime(@low, 'UTC') AND minute <= toDateTime(@high, 'UTC')
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
    SELECT trace_id FROM spans WHERE org_id = @org AND start_time >= fromUnixTimestamp64Micro(@from, 'UTC') AND start_time <= fromUnixTimestamp64Micro(@to, 'UTC') AND hasAnyTokens(mapValues(attrs), ['refund', 'Refund', 'REFUND']) AND hasAnyTokens(mapValues(attrs), ['policy', 'Policy', 'POLICY']))
ORDER BY minute DESC
LIMIT @limit
