-- Part six of the exchange: how many slots are free, and whether creates are held back.
-- Field slots: '<limit> <since ms> <refused at>', after a refusal: others may be using the workspace. It climbs back from then
-- on, and fast once more are taken than were in flight when one was refused.
-- Field creates_hold: '<reason> <until ms> <ms between probes> <probes sent>', reason no_slot, denied or no_credit.
-- ARGV[23] 'created': a create was taken; 'no_slot', 'denied' (the key), 'no_credit': it was refused.
local climbEvery, heard, wait = 10000, ARGV[23], tonumber(ARGV[24]) or 0
local counted = #range / 2 <= reached -- beyond that nobody knows how many are in flight, and no limit is learnt
local reason, holdTill, holdFor, probing = string.match(field.creates_hold, '^(%S+) (%S+) (%S+) (%d+)$')
holdTill, holdFor, probing = tonumber(holdTill), tonumber(holdFor), tonumber(probing)
if not (holdTill and holdFor and probing) then reason, holdTill, holdFor, probing = nil, 0, 0, 0 end
holdTill = math.min(holdTill, now + heldMax)
if heard == 'created' and (probing > 0 or now >= holdTill) then
  reason, holdTill = nil, 0
elseif (heard == 'no_slot' and (wait > 0 or not counted)) or heard == 'denied' or heard == 'no_credit' then
  if heard == 'no_slot' and not counted then wait = math.max(wait, climbEvery) end
  reason, holdTill, holdFor, probing = heard, math.max(now + wait, holdTill), wait, 0
end

local free = (maxInFlight or math.huge) - inUse
local cap, since, refusedAt = string.match(field.slots, '^(%S+) (%S+) (%S+)$')
cap, since, refusedAt = tonumber(cap), tonumber(since), tonumber(refusedAt)
local known = cap and since and refusedAt and counted
if known then since = math.min(since, now + heldMax) end
local effective = known and cap + (1 + cap / 20) * math.floor(math.max(now - since, 0) / climbEvery)
if heard == 'no_slot' and counted then
  -- When a told wait is over, one more than now is tried.
  since = wait > 0 and now + math.min(wait, heldMax) - climbEvery or now
  cap, refusedAt = math.min(effective or inUse, inUse), inUse
  effective = cap
elseif heard == 'created' and known and inUse > refusedAt then
  cap, since = math.max(effective, inUse * 1.25 + 1), now -- more than were refused are taken: there is room again
  effective = cap
end
if effective and effective < (maxInFlight or 4 * inUse + 100) then
  free = math.min(free, math.floor(effective) - inUse)
  field.slots = exact(cap) .. ' ' .. exact(since) .. ' ' .. exact(refusedAt)
else
  field.slots = ''
end
