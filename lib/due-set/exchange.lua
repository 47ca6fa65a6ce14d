-- One tick of a drain: give back what was worked on, keep what is in hand, claim what falls due.
-- One script in four files, joined in this order: exchange.lua (here, it settles), breaker.lua, claim.lua, role.lua.
-- KEYS[1] due set: sorted set of job id -> due time in ms; while leased, lease end in ms + claims/16
-- KEYS[2] awake mark: there while a drain is ticking; '<when its window ends> <when it last ticked>', ms; or '1' for a
--   moment after a submit has woken one
-- KEYS[3] breaker: absent while calls go through; 'open <next probe> <per ms> <probes sent>' while the provider fails,
--   then 'recovering <paid up to> <per ms> 0' until what waited meanwhile is worked off
-- ARGV[1] lease ms  [2] ahead ms  [3] most ids to claim  [4] ms until the caller's window ends
-- ARGV[5] what it is: 'new' on its first tick, then what the last reply said; 'helper'
-- ARGV[6] ids it still works on  [7] now in ms, or '' for Redis TIME
-- ARGV[8] 'fails', 'works' or 'recovers': what the caller has heard of the provider; '' for nothing new
-- ARGV[9] ms between two reads of one job, as the caller sees them; '' if it does not say
-- ARGV[10…] triples of id, token and the new score (a due time, or a later token to renew the lease) or 'remove'.
--   At most 3,900 triples. Safe to repeat after a lost reply.
-- Returns strings: now; next due or ''; 'leave' if nothing is left for the caller in its window, 'covered' if it may leave
--   because the first drain goes on for as long, else what it is now: 'first', 'further <the mark it saw>', 'helper';
--   then two flat lists:
--   claims (id, due, token, claims in a row) · stale ids (the token no longer holds; nothing was changed);
--   last the breaker: '' closed, 'open', or while recovering the ms between two of these claims
local due, awake, breaker, role = KEYS[1], KEYS[2], KEYS[3], ARGV[5]
local lease, ahead, limit, window = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local inHand, now = tonumber(ARGV[6]), tonumber(ARGV[7])
if not now then
  local time = redis.call('TIME')
  now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
local function exact(number) return string.format('%.17g', number) end

local ids, kept, gone, stale = {}, {}, {}, {}
for i = 10, #ARGV, 3 do ids[#ids + 1] = ARGV[i] end
local scores = #ids > 0 and redis.call('ZMSCORE', due, unpack(ids)) or {}
for i, id in ipairs(ids) do
  local token, to, score = tonumber(ARGV[3 * i + 8]), ARGV[3 * i + 9], scores[i] and tonumber(scores[i])
  if score and score == token then
    if to == 'remove' then gone[#gone + 1] = id else kept[#kept + 1], kept[#kept + 2] = to, id end
  elseif score ~= (tonumber(to) or false) then
    stale[#stale + 1] = id -- otherwise it is a settlement whose first reply was lost: done already
  end
end
if #kept > 0 then redis.call('ZADD', due, unpack(kept)) end
if #gone > 0 then redis.call('ZREM', due, unpack(gone)) end

local range = redis.call('ZRANGE', due, 0, limit + 64, 'WITHSCORES') -- 64: leases about to end lie among the due
