-- Put jobs into a due set where they are not there yet, or make them due sooner, and say whether the caller must wake a drain.
-- KEYS[1] due set (see exchange.lua)  KEYS[2] awake mark
-- ARGV[1] ms that a woken drain is given to start  [2] now in ms, or '' for Redis TIME
-- ARGV[3] '1' to pull forward those that are there, due later and not leased; '' to leave them alone
-- ARGV[4…] pairs of the delay until due in ms (so that the set's clock is the only one) and id. At most 1,900 pairs.
-- Returns strings: how many ids were added; '1' if no drain is awake and the caller has just taken on to wake one
local due, awake, now, entries = KEYS[1], KEYS[2], tonumber(ARGV[2]), {}
if not now then
  local time = redis.call('TIME')
  now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
for i = 4, #ARGV, 2 do
  entries[i - 3], entries[i - 2] = string.format('%.17g', now + tonumber(ARGV[i])), ARGV[i + 1]
end
-- NX: a lease that is there is never disturbed, and a due time only when it is asked for.
local added = redis.call('ZADD', due, 'NX', unpack(entries))
if ARGV[3] == '1' then
  local ids, sooner = {}, {}
  for i = 2, #entries, 2 do ids[i / 2] = entries[i] end
  for i, score in ipairs(redis.call('ZMSCORE', due, unpack(ids))) do
    if tonumber(score) % 1 == 0 and tonumber(score) > tonumber(entries[2 * i - 1]) then
      sooner[#sooner + 1], sooner[#sooner + 2] = entries[2 * i - 1], ids[i]
    end
  end
  if #sooner > 0 then redis.call('ZADD', due, unpack(sooner)) end
end
-- The mark is taken here for a moment, so that fifty submits at once wake one drain, not fifty.
local wake = redis.call('SET', awake, '1', 'NX', 'PX', tonumber(ARGV[1]))
return { string.format('%.17g', added), wake and '1' or '0' }
