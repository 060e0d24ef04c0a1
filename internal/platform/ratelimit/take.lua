-- Decides one request. KEYS[1] is a list of pairs: a time in microseconds and
-- the units ever admitted by then. The first pair has left the window and says
-- what was admitted before it. A pair takes 14 bytes; a member of a sorted set
-- takes 120, for a script that is a third faster. Numbers are formatted since Redis
-- may round them to 14 digits.
local key = KEYS[1]
local limit, cost = tonumber(ARGV[1]), tonumber(ARGV[2])
local window, step = tonumber(ARGV[3]), tonumber(ARGV[4])
local now = tonumber(ARGV[5]) -- zero, except in tests

local function int(x) return string.format('%.0f', x) end
local function at(i) return tonumber(redis.call('LINDEX', key, 2 * i)) end
local function sum(i) return tonumber(redis.call('LINDEX', key, 2 * i + 1)) end

-- first returns the first pair from lo on, up to hi, that has the property:
-- mostly lo, so it is tried before the others are halved.
local function first(lo, hi, has)
  if lo < hi and not has(lo) then lo = lo + 1 else hi = lo end
  while lo < hi do
    local mid = math.floor((lo + hi) / 2)
    if has(mid) then hi = mid else lo = mid + 1 end
  end
  return lo
end

if now == 0 then
  local t = redis.call('TIME')
  now = t[1] * 1000000 + t[2]
end

local n = redis.call('LLEN', key) / 2
local head = redis.call('LRANGE', key, 0, 3)
local base, oldest = tonumber(head[2] or 0), tonumber(head[3])
-- If the clock stepped back, it stands still where the log was last cut.
now = math.max(now, tonumber(head[1] or 0) + window)

if oldest and oldest <= now - window then
  local left = first(2, n, function(i) return at(i) > now - window end) - 1
  redis.call('LTRIM', key, 2 * left, -1)
  n = n - left
  base, oldest = sum(0), n > 1 and at(1)
end

local last, total = 0, 0
if n > 0 then
  local tail = redis.call('LRANGE', key, -2, -1)
  last, total = tonumber(tail[1]), tonumber(tail[2])
end

-- Doubles are exact up to 2^53. A key that is never idle starts over long
-- before: years at terabytes an hour.
if base > 2 ^ 51 then
  for i = 0, n - 1 do
    redis.call('LSET', key, 2 * i + 1, int(sum(i) - base))
  end
  base, total = 0, total - base
end

local used = total - base
if cost > limit - used then
  local retry = window
  if cost <= limit then
    local gone = total + cost - limit
    retry = at(first(1, n - 1, function(i) return sum(i) >= gone end)) + window - now
  end
  return { 0, used, oldest and oldest + window - now or 0, retry, now }
end

if cost > 0 then
  local stamp = now
  if step > 0 then stamp = math.ceil(now / step) * step end
  stamp = math.max(stamp, last)
  if n == 0 then redis.call('RPUSH', key, '0', '0') end
  if n > 1 and stamp == last then
    redis.call('LSET', key, -1, int(total + cost))
  else
    redis.call('RPUSH', key, int(stamp), int(total + cost))
  end
  -- Absolute, so that it never falls before the newest pair leaves the window.
  redis.call('PEXPIREAT', key, int(math.ceil((stamp + window) / 1000)))
  oldest = oldest or stamp
end
return { 1, used + cost, oldest and oldest + window - now or 0, 0, now }
