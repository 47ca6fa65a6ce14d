-- Part two of the exchange: what the account's circuit breaker lets through.
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
