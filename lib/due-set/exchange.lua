-- One tick of a drain: give back what was worked on, keep what is in hand, claim what falls due.
-- KEYS[1] due set: sorted set of job id -> due time in ms; while leased, lease end in ms + claims/16
-- KEYS[2] awake mark: there while a drain is ticking
-- ARGV[1] lease ms  [2] ahead ms  [3] most ids to claim  [4] ms until the caller's window ends
-- ARGV[5] '1' on its first tick  [6] ids it still works on  [7] now in ms, or '' for Redis TIME
-- ARGV[8…] triples of id, token and the new score (a due time, or a later token to renew the lease) or 'remove'.
--   At most 3,900 triples. Safe to repeat after a lost reply.
-- Returns strings: now; next due or ''; '1' if the caller may leave; then two flat lists:
--   claims (id, due, token, claims in a row) · stale ids (the token no longer holds; nothing was changed)
local due, awake, first = KEYS[1], KEYS[2], ARGV[5] == '1'
local lease, ahead, limit, window = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local inHand, now = tonumber(ARGV[6]), tonumber(ARGV[7])
if not now then
  local time = redis.call('TIME')
  now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
local function exact(number) return string.format('%.17g', number) end

local ids, kept, gone, stale = {}, {}, {}, {}
for i = 8, #ARGV, 3 do ids[#ids + 1] = ARGV[i] end
local scores = #ids > 0 and redis.call('ZMSCORE', due, unpack(ids)) or {}
for i, id in ipairs(ids) do
  local token, to, score = tonumber(ARGV[3 * i + 6]), ARGV[3 * i + 7], scores[i] and tonumber(scores[i])
  if score and score == token then
    if to == 'remove' then gone[#gone + 1] = id else kept[#kept + 1], kept[#kept + 2] = to, id end
  elseif score ~= (tonumber(to) or false) then
    stale[#stale + 1] = id -- otherwise it is a settlement whose first reply was lost: done already
  end
end
if #kept > 0 then redis.call('ZADD', due, unpack(kept)) end
if #gone > 0 then redis.call('ZREM', due, unpack(gone)) end

-- Not past the caller's window: what falls due after it is left to the next drain, in time.
local claimed, leased, nextDue, reach = {}, {}, '', now + math.min(ahead, window)
local range = redis.call('ZRANGE', due, 0, limit + 64, 'WITHSCORES') -- 64: leases about to end lie among the due
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
local leave = window > 0 and #leased == 0 and inHand == 0 and (nextDue == '' or tonumber(nextDue) > now + window)
if leave and not first then redis.call('DEL', awake) end
if first and not leave then redis.call('SET', awake, '1', 'PX', math.max(window, 1)) end

-- A nil would cut the reply short, so nothing here is ever absent.
return { exact(now), nextDue, leave and '1' or '0', claimed, stale }
