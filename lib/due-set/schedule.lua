-- Put jobs into a due set where they are not there yet, and say whether the caller must wake a drain.
-- KEYS[1] due set (see exchange.lua)  KEYS[2] awake mark
-- ARGV[1] ms that a woken drain is given to start  [2] now in ms, or '' for Redis TIME
-- ARGV[3…] pairs of the delay until due in ms (so that the set's clock is the only one) and id. At most 1,900 pairs.
-- Returns strings: how many ids were added; '1' if no drain is awake and the caller has just taken on to wake one
local due, awake, now, entries = KEYS[1], KEYS[2], tonumber(ARGV[2]), {}
if not now then
  local time = redis.call('TIME')
  now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
for i = 3, #ARGV, 2 do
  entries[i - 2], entries[i - 1] = string.format('%.17g', now + tonumber(ARGV[i])), ARGV[i + 1]
end
-- NX: a lease or a due time that is there is never disturbed.
local added = redis.call('ZADD', due, 'NX', unpack(entries))
-- The mark is taken here for a moment, so that fifty submits at once wake one drain, not fifty.
local wake = redis.call('SET', awake, '1', 'NX', 'PX', tonumber(ARGV[1]))
return { string.format('%.17g', added), wake and '1' or '0' }
