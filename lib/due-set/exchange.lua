-- One tick of a drain: give back what was worked on, keep what is in hand, claim what falls due.
-- KEYS[1] due set: sorted set of job id -> due time in ms; while leased, lease end in ms + claims/16
-- KEYS[2] awake mark: there while a drain is ticking; '<when its window ends> <when it last ticked>', ms
-- KEYS[3] breaker: absent while calls go through; 'open <next probe> <per ms> <probes sent>' while the provider fails,
--   then 'recovering <paid up to> <per ms> 0' until what waited meanwhile is worked off
-- ARGV[1] lease ms  [2] ahead ms  [3] most ids to claim  [4] ms until the caller's window ends
-- ARGV[5] what it is: 'new' on its first tick, then what the last reply said; 'helper'  [6] ids it still works on  [7] now in ms, or '' for Redis TIME
-- ARGV[8] 'fails', 'works' or 'recovers': what the caller has heard of the provider; '' for nothing new
-- ARGV[9] ms between two reads of one job, as the caller sees them; '' if it does not say
-- ARGV[10…] triples of id, token and the new score (a due time, or a later token to renew the lease) or 'remove'.
--   At most 3,900 triples. Safe to repeat after a lost reply.
-- Returns strings: now; next due or ''; 'leave' if nothing is left for the caller in its window, 'covered' if it may leave
--   because the first drain goes on for as long, else what it is now: 'first', 'further <the mark it saw>', 'helper'; then two flat lists:
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

-- While the provider fails: two probes at a time, after 1 s, then ever more seldom up to 30 s. On the way back: one and a
-- half times as many claims as the set makes in steady times, for at most the last 2 s. An empty set has nothing to hold back.
local probesAtOnce, firstProbe, probeMax, steadyShare, backlogMax = 2, 1000, 30000, 1.5, 2000
local stored = #range > 0 and redis.call('GET', breaker) or ''
local state, at, perMs, probes = string.match(stored, '^(%a+) (%S+) (%S+) (%d+)$')
at, perMs, probes = tonumber(at), tonumber(perMs), tonumber(probes)
local known = at and perMs and perMs > 0 and perMs < 1e6 and (state == 'open' or state == 'recovering')
if not known then state, at, perMs, probes = nil, nil, nil, nil end
local gap = #range > 0 and tonumber(ARGV[9])
if gap and (known or ARGV[8] == 'fails') then
  perMs = math.max(redis.call('ZCARD', due) / gap, perMs or 0.001)
end
if ARGV[8] == 'fails' and state ~= 'open' and #range > 0 then
  state, at, probes = 'open', now + firstProbe, 0
elseif ARGV[8] == 'works' and state == 'open' then
  state, at, probes = 'recovering', now, 0
end
local rate = (perMs or 0) * steadyShare
if state == 'open' then
  at = math.min(at, now + probeMax) -- a probe further off was set by a clock that has stepped back since
  limit = math.min(limit, now < at and 0 or probesAtOnce)
elseif state == 'recovering' then
  at = math.max(math.min(at, now), now - backlogMax)
  limit = math.min(limit, math.floor((now - at) * rate))
end

-- Not past the caller's window: what falls due after it is left to the next drain, in time.
local claimed, leased, nextDue, reach = {}, {}, '', now + math.min(ahead, window)
for i = 1, #range, 2 do
  local id, score = range[i], tonumber(range[i + 1])
  local claims = math.floor((score % 1) * 16)
  if claims ~= claims then claims = 0 end -- an infinite score, which no release of ours writes
  local ripe = score <= (claims > 0 and now or reach)
  if ripe and #leased < 2 * limit then
    claims = math.min(claims + 1, 15)
    local token, dueAt = exact(now + lease + claims / 16), exact(math.max(math.floor(score), 0))
    leased[#leased + 1], leased[#leased + 2] = token, id
    for _, value in ipairs({ id, dueAt, token, exact(claims) }) do claimed[#claimed + 1] = value end
  elseif nextDue == '' then
    nextDue = exact(math.ceil(score))
  end
end
if #leased > 0 then redis.call('ZADD', due, unpack(leased)) end
local made = #leased / 2
if state == 'open' then
  if made > 0 then at, probes = now + math.min(firstProbe * 2 ^ (probes + 1), probeMax), math.min(probes + 1, 9) end
  if nextDue ~= '' then nextDue = exact(math.max(tonumber(nextDue), math.ceil(at))) end
elseif state == 'recovering' then
  if made < limit then state = nil else at = at + made / rate end
end
local written = state and string.format('%s %.17g %.17g %d', state, at, perMs, probes) or ''
if written == '' and stored ~= '' then
  redis.call('DEL', breaker)
elseif written ~= stored then
  redis.call('SET', breaker, written, 'PX', 3600000) -- an hour without a drain, and it is forgotten
end

-- One drain is the first on its set. Another whose window ends with that one's, or little later, is not needed unless it
-- has work; it leaves once it has seen that the first still ticks. One whose window reaches further takes over.
local idle = window > 0 and made == 0 and inHand == 0
if idle and (nextDue == '' or tonumber(nextDue) > now + window) then
  if role == 'first' then redis.call('DEL', awake) end
  role = 'leave'
elseif role ~= 'helper' and window > 0 then
  local mark = role ~= 'first' and redis.call('GET', awake) or ''
  if (tonumber(string.match(mark, '^%S+')) or 0) < now + window - ahead then
    local text = exact(now + window) .. ' ' .. exact(now)
    redis.call('SET', awake, text, 'PX', math.max(math.floor(math.min(2 * ahead, window)), 1))
    role = 'first'
  elseif idle and role ~= 'new' and role ~= 'further ' .. mark then
    role = 'covered'
  elseif role == 'new' then
    role = 'further ' .. mark
  end
elseif role == 'new' then
  role = 'further '
end

-- A nil would cut the reply short, so nothing here is ever absent.
local shown = state == 'open' and 'open' or state and exact(1 / rate) or ''
return { exact(now), nextDue, role, claimed, stale, shown }
