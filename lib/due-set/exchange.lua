-- One tick of a drain: give back what was worked on, keep what is in hand, claim what falls due, admit what waits.
-- One script in nine files, joined in this order: exchange.lua (here, it settles), breaker.lua, meter.lua, budget.lua,
-- claim.lua, slots.lua, admit.lua, role.lua, reply.lua.
-- KEYS[1] due set: sorted set of job id -> due time in ms; while leased, lease end in ms + claims/16
-- KEYS[2] waiting set: sorted set of job id -> rank, lowest first (enqueue.lua)
-- KEYS[3] account: hash of what all its drains share; each field is explained where it is used, none has to be there
-- KEYS[4] busy: set of the accounts that have work  KEYS[5] deadlines (enqueue.lua)
-- ARGV[1] lease ms  [2] ahead ms  [3] most ids to claim  [4] ms until the caller's window ends
-- ARGV[5] what it is: 'new' on its first tick, then what the last reply said; 'helper'
-- ARGV[6] ids it still works on  [7] now in ms, or '' for Redis TIME
-- ARGV[8] what the caller has heard of the provider, see breaker.lua; '' for nothing new
-- ARGV[9] ms between two reads of one job, as the caller sees them; '' if it does not say  [10] ms that a 429 asked to wait
-- ARGV[11] most ids to admit  [12…16] limits, '' for none: jobs in flight; reads a minute, a day; creates a minute, a day
-- ARGV[17] reads and [18] creates that it made beyond its claims and admissions; below 0 if it made fewer
-- ARGV[19…22] the provider's RateLimit headers: reads left, for so many ms; creates left, for so many ms; '' if not told
-- ARGV[23] what became of creates, see slots.lua; '' for nothing new  [24] ms to wait for it  [25] the account's id
-- ARGV[26…] triples of id, token and 'remove', 'wait <rank>' (back to where it waited), 'wait <rank> <deadline> <9 - priority>
--   <owner>' (it may never have waited), or the new score: a due time, or a later token to renew the lease. At most 3,900
--   triples. Safe to repeat after a lost reply.
-- Returns strings: see reply.lua.
local due, waiting, account, busy, deadlines = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local lease, ahead, limit, window = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local role, inHand, now = ARGV[5], tonumber(ARGV[6]), tonumber(ARGV[7])
local maxInFlight = tonumber(ARGV[12])
if not now then
  local time = redis.call('TIME')
  now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
local function exact(number) return string.format('%.17g', number) end

local names = { 'awake', 'breaker', 'reads', 'creates', 'told', 'slots', 'creates_hold', 'paused', 'queued', 'round', 'busy' }
local field, found = {}, redis.call('HMGET', account, unpack(names))
for i, name in ipairs(names) do field[name] = found[i] or '' end

local ids, kept, gone, back, ends, stale = {}, {}, {}, {}, {}, {}
for i = 26, #ARGV, 3 do ids[#ids + 1] = ARGV[i] end
local scores = #ids > 0 and redis.call('ZMSCORE', due, unpack(ids)) or {}
for i, id in ipairs(ids) do
  local token, to, score = tonumber(ARGV[3 * i + 24]), ARGV[3 * i + 25], scores[i] and tonumber(scores[i])
  local rank, till, line = string.match(to, '^wait (%S+) ?(%S*) ?(.*)$')
  if score and score == token then
    if rank then back[#back + 1], back[#back + 2] = rank, id end
    if rank and line ~= '' then ends[#ends + 1], ends[#ends + 2] = till, id .. ' ' .. line end
    if rank or to == 'remove' then gone[#gone + 1] = id else kept[#kept + 1], kept[#kept + 2] = to, id end
  elseif score ~= (tonumber(to) or false) then
    stale[#stale + 1] = id -- otherwise it is a settlement whose first reply was lost: done already
  end
end
if #kept > 0 then redis.call('ZADD', due, unpack(kept)) end
if #gone > 0 then redis.call('ZREM', due, unpack(gone)) end
if #back > 0 then
  redis.call('ZADD', waiting, unpack(back))
  field.queued = '1'
end
if #ends > 0 then
  redis.call('ZADD', deadlines, unpack(ends))
  limit = 0 -- seldom, and so no tick bills more than ten commands
end
-- 64: leases about to end lie among the due. The slots in use are counted in it too, as far as there is a limit on them.
local reached = math.max(limit + 64, maxInFlight or 0, field.slots ~= '' and 3000 or 0)
local range = redis.call('ZRANGE', due, 0, reached, 'WITHSCORES')
