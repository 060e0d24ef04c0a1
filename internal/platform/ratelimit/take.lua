-- Decides one request, which asks of one key or of several. Each key is a list
-- of pairs: a time in microseconds and the units ever admitted by then. The first
-- pair has left the window and says what was admitted before it. A pair takes 14
-- bytes; a member of a sorted set takes 120, for a script that is a third faster.
-- Numbers are formatted since Redis may round them to 14 digits.
local window = tonumber(ARGV[1])
local clock = tonumber(ARGV[2]) -- zero, except in tests

if clock == 0 then
  local t = redis.call('TIME')
  clock = t[1] * 1000000 + t[2]
end

local function int(x) return string.format('%.0f', x) end

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

-- weigh cuts a key's log and says whether the cost fits.
local function weigh(key, limit, cost, step)
  local function at(i) return tonumber(redis.call('LINDEX', key, 2 * i)) end
  local function sum(i) return tonumber(redis.call('LINDEX', key, 2 * i + 1)) end
  local n = redis.call('LLEN', key) / 2
  local head = redis.call('LRANGE', key, 0, 3)
  local base, oldest = tonumber(head[2] or 0), tonumber(head[3])
  -- If the clock stepped back, it stands still where the log was last cut.
  local now = math.max(clock, tonumber(head[1] or 0) + window)

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

  local log = { key = key, cost = cost, step = step, n = n, now = now, last = last, total = total, oldest = oldest, used = total - base, retry = 0 }
  log.fits = cost <= limit - log.used
  if not log.fits then
    log.retry = window
    if cost <= limit then
      local gone = total + cost - limit
      log.retry = at(first(1, n - 1, function(i) return sum(i) >= gone end)) + window - now
    end
  end
  return log
end

-- count adds the cost to a key's log.
local function count(log)
  local stamp = log.now
  if log.step > 0 then stamp = math.ceil(log.now / log.step) * log.step end
  stamp = math.max(stamp, log.last)
  if log.n == 0 then redis.call('RPUSH', log.key, '0', '0') end
  if log.n > 1 and stamp == log.last then
    redis.call('LSET', log.key, -1, int(log.total + log.cost))
  else
    redis.call('RPUSH', log.key, int(stamp), int(log.total + log.cost))
  end
  -- Absolute, so that it never falls before the newest pair leaves the window.
  redis.call('PEXPIREAT', log.key, int(math.ceil((stamp + window) / 1000)))
  log.oldest = log.oldest or stamp
  log.used = log.used + log.cost
end

local logs, fit = {}, true
for i, key in ipairs(KEYS) do
  local a = 3 * i
  logs[i] = weigh(key, tonumber(ARGV[a]), tonumber(ARGV[a + 1]), tonumber(ARGV[a + 2]))
  fit = fit and logs[i].fits
end
local out = {}
for _, log in ipairs(logs) do
  if fit and log.cost > 0 then count(log) end
  for _, value in ipairs({ log.fits and 1 or 0, log.used, log.oldest and log.oldest + window - log.now or 0, log.retry, log.now }) do
    table.insert(out, value)
  end
end
return out
