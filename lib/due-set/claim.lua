-- Part three of the exchange: claims what is due, and tells the breaker how many that were.
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
