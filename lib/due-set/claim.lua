-- Part five of the exchange: claims what is due, oldest first, as far as breaker and budget go.
local told, toldArg = {}, {}
for word in string.gmatch(field.told, '%S+') do told[#told + 1] = tonumber(word) or false end
for i = 1, 2 do
  -- The newest word counts: an older one of the same minute cannot know of the calls since.
  toldArg[i] = tonumber(ARGV[17 + 2 * i])
  if toldArg[i] then told[2 * i - 1], told[2 * i] = toldArg[i], now + (tonumber(ARGV[18 + 2 * i]) or 0) end
  if told[2 * i] and told[2 * i] > now + 86400000 then told[2 * i] = now + 86400000 end
end
local leases, inUse, slotFor, isDue = 0, 0, 1800000, {}
for i = 2, #range, 2 do
  local score = tonumber(range[i])
  isDue[range[i - 1]] = true
  if score % 1 ~= 0 and score > now then leases = leases + 1 end
  if score <= now + slotFor then inUse = inUse + 1 end -- overdue jobs that are read once in hours hold no slot of ours
end
-- A lease may come to two reads: the second fetches the result.
local reads = budgetOf('reads', { tonumber(ARGV[13]), tonumber(ARGV[14]) }, told[1], told[2],
  { extra = tonumber(ARGV[17]), spoken = leases, perCall = 2 })
limit = math.max(math.min(limit, reads.may), 0)

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
    for _, value in ipairs({ id, dueAt, token, exact(claims), '' }) do claimed[#claimed + 1] = value end
  elseif nextDue == '' then
    nextDue = exact(math.ceil(score))
  end
end
local made = #leased / 2
reads.spent(made)
if told[1] then told[1] = math.max(told[1] - 2 * made, 0) end
