-- Part seven of the exchange: admits jobs that wait into free slots, in order of rank, straight under a lease.
-- Field queued: '1' while something may wait. Field round: for each priority the newest round admitted; see enqueue.lua.
local creates = budgetOf('creates', { tonumber(ARGV[15]), tonumber(ARGV[16]) }, told[3], told[4],
  { extra = tonumber(ARGV[18]), spoken = 0, perCall = 1 })
local room = math.floor(math.max(math.min(free, creates.may), 0))
local held = field.paused ~= '' or state == 'recovering' or #back > 0 or gap
if held or now < holdTill then room = 0 elseif reason then room = math.min(room, 1) end
if shut then room = math.min(room, math.max(limit - made, 0)) end
room = math.min(room, tonumber(ARGV[11]), 3900 - made)
local popped = field.queued ~= '' and room > 0 and redis.call('ZPOPMIN', waiting, room) or {}
local rounds = {}
for round in string.gmatch(field.round, '%S+') do rounds[#rounds + 1] = tonumber(round) or 0 end
for i = 1, #popped, 2 do
  local id, rank, token = popped[i], tonumber(popped[i + 1]), exact(now + lease + 1 / 16)
  local known = rank >= 0 and rank < 1e15 -- or it is none of ours
  local order, round = known and math.floor(rank / 1e14) + 1 or 10, known and math.floor(rank % 1e14 / 1e5) or 0
  for j = #rounds + 1, order do rounds[j] = 0 end
  rounds[order] = math.max(rounds[order] or 0, round)
  if not isDue[id] then -- after a return to an older release and back it may stand in both sets: then it is admitted already
    leased[#leased + 1], leased[#leased + 2] = token, id
    for _, value in ipairs({ id, exact(now), token, '1', exact(rank) }) do claimed[#claimed + 1] = value end
  end
end
local admitted = #leased / 2 - made
if admitted > 0 then field.round = table.concat(rounds, ' ') end
if room > 0 and #popped / 2 < room then field.queued = '' end
if reason and admitted > 0 then holdTill, probing = now + math.max(holdFor, 3000), 1 end
field.creates_hold = reason and string.format('%s %.17g %.17g %d', reason, holdTill, holdFor, probing) or ''
creates.spent(admitted)
if told[3] then told[3] = math.max(told[3] - admitted, 0) end
if #leased > 0 then redis.call('ZADD', due, unpack(leased)) end

-- What the breaker is told of both. It is not needed any more when fewer are due than it would let through, or the budget lets.
if shut and made + admitted > 0 then
  at = now + (state == 'denied' and deniedEvery or math.min(firstProbe * 2 ^ (probes + 1), probeMax))
  probes = math.min(probes + 1, 9)
elseif state == 'recovering' then
  if made < passable then state = nil else at = at + made / rate end
end
if #range > 0 then field.breaker = state and string.format('%s %.17g %.17g %d', state, at, perMs, probes) or '' end
