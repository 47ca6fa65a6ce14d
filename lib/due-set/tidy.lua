-- Make due what still waits past its deadline, so that it is looked at: a job that is never admitted must end all the same.
-- And set right what the account's fields say of its sets, should one of them have been lost.
-- KEYS[1] due set  KEYS[2] waiting set  KEYS[3] account  KEYS[4] busy  KEYS[5] owners  KEYS[6] deadlines (see enqueue.lua)
-- ARGV[1] ms that a woken drain is given to start  [2] now in ms, or '' for Redis TIME  [3] the account's id
-- Returns strings: how many were made due; '1' if no drain is awake for them and the caller has just taken on to wake one
local due, waiting, account, busy, owners, deadlines = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local now = tonumber(ARGV[2])
if not now then
  local time = redis.call('TIME')
  now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
local over = redis.call('ZRANGEBYSCORE', deadlines, '-inf', now, 'LIMIT', 0, 3900)
local all, lines, moved, ids, gone, later, left, names = {}, {}, {}, {}, {}, {}, {}, {}
for i, member in ipairs(over) do all[i], lines[i] = string.match(member, '^(%S*) ?(.*)$') end
local ranks = #all > 0 and redis.call('ZMSCORE', waiting, unpack(all)) or {}
local scores = #all > 0 and redis.call('ZMSCORE', due, unpack(all)) or {}
for i, id in ipairs(all) do
  if ranks[i] then
    ids[#ids + 1] = id
    moved[#moved + 1], moved[#moved + 2] = string.format('%.17g', now), id
    if not left[lines[i]] then names[#names + 1] = lines[i] end
    left[lines[i]] = (left[lines[i]] or 0) + 1
  end
  if scores[i] and tonumber(scores[i]) % 1 ~= 0 then
    later[#later + 1], later[#later + 2] = string.format('%.17g', now + 60000), over[i] -- it may yet come back into line
  else
    gone[#gone + 1] = over[i]
  end
end
if #gone > 0 then redis.call('ZREM', deadlines, unpack(gone)) end
if #later > 0 then redis.call('ZADD', deadlines, unpack(later)) end
if #ids > 0 then
  redis.call('ZADD', due, 'NX', unpack(moved))
  redis.call('ZREM', waiting, unpack(ids))
  -- The owner's line is so much shorter: its next job does not stand behind places that nobody has any more.
  local last, shorter = redis.call('HMGET', owners, unpack(names)), {}
  for i, name in ipairs(names) do
    shorter[#shorter + 1], shorter[#shorter + 2] = name, math.max((tonumber(last[i]) or 0) - left[name], 0)
  end
  redis.call('HSET', owners, unpack(shorter))
end
local added, queued = #ids, redis.call('ZCARD', waiting) > 0
local hasWork, isBusy = added > 0, queued or redis.call('ZCARD', due) > 0
