-- Put new jobs into the waiting set where they are in neither set yet, and say whether the caller must wake a drain.
-- KEYS[1] due set  KEYS[2] waiting set  KEYS[3] account (see exchange.lua)  KEYS[4] busy
-- KEYS[5] owners: hash of '<9 - priority> <owner>' -> the round of its last job, and '' -> how many came before
-- KEYS[6] deadlines: sorted set of '<job id> <9 - priority> <owner>' -> its deadline in ms (see tidy.lua)
-- ARGV[1] ms that a woken drain is given to start  [2] now in ms, or '' for Redis TIME  [3] the account's id
-- ARGV[4…] fours of id, owner, priority and ms until its deadline. At most 900 fours.
-- Returns strings: how many ids were added; '1' if no drain is awake and the caller has just taken on to wake one
-- rank = (9 - priority) · 1e14 + round · 1e5 + arrival. An owner's next job gets its next round, but none before the newest
-- one admitted: owners take turns, and who comes late does not stand behind another's thousands.
local due, waiting, account, busy, owners, deadlines = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local now, added = tonumber(ARGV[2]), 0
if not now then
  local time = redis.call('TIME')
  now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
local ids, lines, rounds = {}, { '' }, {}
for i = 4, #ARGV, 4 do
  ids[#ids + 1] = ARGV[i]
  lines[#lines + 1] = (9 - tonumber(ARGV[i + 2])) .. ' ' .. ARGV[i + 1]
end
local inDue, inWaiting = redis.call('ZMSCORE', due, unpack(ids)), redis.call('ZMSCORE', waiting, unpack(ids))
local last, newest = redis.call('HMGET', owners, unpack(lines)), redis.call('HGET', account, 'round') or ''
local line, came = {}, tonumber(last[1]) or 0
for i = 2, #lines do line[lines[i]] = tonumber(last[i]) or 0 end
for round in string.gmatch(newest, '%S+') do rounds[#rounds + 1] = tonumber(round) or 0 end
local ranked, ends, written = {}, {}, {}
for i, id in ipairs(ids) do
  if not inDue[i] and not inWaiting[i] then
    local name, order = lines[i + 1], 9 - tonumber(ARGV[4 * i + 2])
    local round = math.max(line[name], rounds[order + 1] or 0) + 1
    line[name], came, added = round, came + 1, added + 1
    ranked[#ranked + 1], ranked[#ranked + 2] = string.format('%.17g', order * 1e14 + round * 1e5 + came % 1e5), id
    ends[#ends + 1], ends[#ends + 2] = string.format('%.17g', now + tonumber(ARGV[4 * i + 3])), id .. ' ' .. name
  end
end
if added > 0 then
  for name, round in pairs(line) do written[#written + 1], written[#written + 2] = name, string.format('%.17g', round) end
  redis.call('ZADD', waiting, unpack(ranked))
  redis.call('ZADD', deadlines, unpack(ends))
  redis.call('HSET', owners, '', string.format('%.17g', came), unpack(written))
end
local queued, hasWork, isBusy = true, true, false
