-- Part four of the exchange: what the provider's limits leave of reads and creates.
-- Fields reads and creates: '<minute meter>|<day meter>'. Field told: '<reads left> <until ms> <creates left> <until ms>', as the
-- provider's headers have said, '-' for not.
-- How many more calls there may be now, and when the next if none. The second half of a limit is spread evenly over the time
-- until the first calls no longer count. `spoken`: already spoken for, by leases; `perCall`: what one call may come to.
local function allowed(meter, spoken, perCall)
  if not meter.max then return math.huge, 0 end
  local left = meter.max - meter.used - spoken
  perCall = math.min(perCall, meter.max)
  if left < perCall then return 0, (meter.newest + 1) * meter.shape.size end
  local size, buckets, room = meter.shape.size, meter.shape.buckets, math.floor(left / perCall)
  local perMs = left / (size * math.max(buckets + 1 - (meter.oldest or 1), buckets / 16))
  meter.perMs = left < meter.max / 2 and perMs or nil
  if not meter.perMs then return math.min(math.max(math.floor(left - meter.max / 2), 1), room), 0 end
  meter.paced = math.max(math.min(meter.paced, now), now - math.max(2000, 1 / perMs))
  return math.min(math.floor((now - meter.paced) * perMs + 1e-6), room), meter.paced + 1 / perMs
end

-- What the minute, the day and the provider's own word leave: { may, again = when, if there may be none now, spent(calls) }.
local function budgetOf(name, maxima, left, till, given)
  local minuteText, dayText = string.match(field[name], '^([^|]*)|(.*)$')
  local minute = readMeter(minuteText, meters[1], maxima[1], given.extra)
  local day = readMeter(dayText, meters[2], maxima[2], given.extra)
  local isTold = left and till and now < till
  local room = isTold and math.floor(left / given.perCall) or math.huge
  local budget = { may = room, again = room < 1 and till or 0 }
  for _, meter in ipairs({ minute, day }) do
    local may, again = allowed(meter, given.spoken, given.perCall)
    budget.may = math.min(budget.may, may)
    if may < 1 then budget.again = math.max(budget.again, again) end
  end
  function budget.spent(calls)
    if (calls == 0 and given.extra == 0) or not (maxima[1] or maxima[2]) then return end
    local texts = {}
    for i, meter in ipairs({ minute, day }) do
      meter[1] = meter[1] + calls
      meter.paced = meter.perMs and meter.paced + calls / meter.perMs or now
      texts[i] = meter.newest .. ' ' .. exact(math.floor(meter.paced)) .. ' ' .. table.concat(meter, ' ')
    end
    field[name] = texts[1] .. '|' .. texts[2]
  end
  return budget
end
