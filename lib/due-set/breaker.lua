-- Part two of the exchange: what the account's circuit breaker lets through. Field breaker: '' while calls go through, else
-- '<state> <next probe, or paid up to> <per ms> <probes sent>'.
-- ARGV[8] 'fails': nothing but failures -> open: two probes at a time, after 1 s, then ever more seldom up to 30 s.
-- 'held': a 429 told when to come back -> held: nothing before that, then as open.
-- 'denied': the key is refused -> denied: one probe every 20 s.
-- 'works': a probe came through -> recovering: one and a half times as many claims as the set makes in steady times, for at
-- most the last 2 s. 'recovers': it still does. An empty set has nothing to hold back.
local probesAtOnce, firstProbe, probeMax, steadyShare, backlogMax = 2, 1000, 30000, 1.5, 2000
local deniedEvery, heldMax, forgotten = 20000, 3960000, 3600000
local news, gap = ARGV[8], #range > 0 and tonumber(ARGV[9])
local state, at, perMs, probes = string.match(#range > 0 and field.breaker or '', '^(%a+) (%S+) (%S+) (%d+)$')
at, perMs, probes = tonumber(at), tonumber(perMs), tonumber(probes)
local shut = state == 'open' or state == 'held' or state == 'denied'
local known = at and perMs and perMs > 0 and perMs < 1e6 and now - at < forgotten and (shut or state == 'recovering')
if not known then state, at, perMs, probes, shut = nil, nil, nil, nil, false end
local closes = news == 'fails' or news == 'held' or news == 'denied'
if gap and (known or closes) then
  perMs = math.max((#back > 0 and #range / 2 or redis.call('ZCARD', due)) / gap, perMs or 0.001)
end
if gap and news == 'held' then
  local till = now + math.min(tonumber(ARGV[10]) or 0, heldMax)
  state, at, probes = 'held', math.max(till, state == 'held' and at or 0), 0
elseif gap and news == 'denied' and state ~= 'denied' and state ~= 'held' then
  state, at, probes = 'denied', now + deniedEvery, 0
elseif gap and news == 'fails' and not shut then
  state, at, probes = 'open', now + firstProbe, 0
elseif news == 'works' and shut and not (state == 'held' and probes == 0) then
  state, at, probes = 'recovering', now, 0
end
shut = state == 'open' or state == 'held' or state == 'denied'
-- A probe that came to no call, since its job had ended, say, was none.
if shut and probes > 0 and tonumber(ARGV[17]) + tonumber(ARGV[18]) < 0 then at = now end
local rate = (perMs or 0) * steadyShare
if shut then
  -- A probe further off was set by a clock that has stepped back since.
  at = math.min(at, now + (state == 'held' and heldMax or probeMax))
  limit = math.min(limit, now < at and 0 or state == 'denied' and 1 or probesAtOnce)
elseif state == 'recovering' then
  at = math.max(math.min(at, now), now - backlogMax)
  limit = math.min(limit, math.floor((now - at) * rate))
end
local isPaused = string.sub(field.paused, 1, 3) == 'all'
if isPaused then limit = 0 end
local passable = limit
