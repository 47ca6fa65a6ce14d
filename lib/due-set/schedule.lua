-- Put jobs into a due set where they are not there yet, or make them due sooner, and say whether the caller must wake a drain.
-- KEYS[1] due set (see exchange.lua)  KEYS[2] waiting set, which they leave  KEYS[3] account  KEYS[4] busy
-- KEYS[5] owners (see enqueue.lua)
-- ARGV[1] ms that a woken drain is given to start  [2] now in ms, or '' for Redis TIME  [3] the account's id
-- ARGV[4] '1' to pull forward those that are there, due later and not leased; '' to leave them alone
-- ARGV[5…] threes of the delay until due in ms (so that the set's clock is the only one), id, and '<9 - priority> <owner>' of one
-- that leaves the line for good, or ''. At most 1,900 threes.
-- Returns strings: how many ids were added; '1' if no drain is awake and the caller has just taken on to wake one
local due, waiting, account, busy, owners = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local now, entries, ids = tonumber(ARGV[2]), {}, {}
if not now then
  local time = redis.call('TIME')
  now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
for i = 5, #ARGV, 3 do
  local id, line = ARGV[i + 1], ARGV[i + 2]
  entries[#entries + 1], entries[#entries + 2] = string.format('%.17g', now + tonumber(ARGV[i])), id
  ids[#ids + 1] = id
  -- The owner's line is so much shorter: its next job does not stand behind places that nobody has any more.
  local isGone = line ~= '' and redis.call('ZREM', waiting, id) == 1
  if isGone and redis.call('HINCRBY', owners, line, -1) < 0 then redis.call('HSET', owners, line, '0') end
end
-- NX: a lease that is there is never disturbed, and a due time only when it is asked for.
local added = redis.call('ZADD', due, 'NX', unpack(entries))
redis.call('ZREM', waiting, unpack(ids))
if ARGV[4] == '1' then
  local sooner = {}
  for i, score in ipairs(redis.call('ZMSCORE', due, unpack(ids))) do
    if tonumber(score) % 1 == 0 and tonumber(score) > tonumber(entries[2 * i - 1]) then
      sooner[#sooner + 1], sooner[#sooner + 2] = entries[2 * i - 1], ids[i]
    end
  end
  if #sooner > 0 then redis.call('ZADD', due, unpack(sooner)) end
end
local queued, hasWork, isBusy = false, true, false
