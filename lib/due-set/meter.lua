-- Part three of the exchange: the meters by which calls are counted. A meter: '<newest bucket> <paced up to ms> <count in it>
-- <in the one before> …'. The last bucket lies before the provider's minute or day, so that what is claimed ahead, or held up,
-- still counts.
local meters = { { size = 2000, buckets = 32 }, { size = 3600000, buckets = 25 } }

-- `extra`: calls that were made and not counted yet, or below 0 counted and not made.
local function readMeter(text, shape, max, extra)
  local given = {}
  for number in string.gmatch(text or '', '%S+') do given[#given + 1] = tonumber(number) or 0 end
  local meter = { shape = shape, max = max, newest = math.floor(now / shape.size), paced = given[2] or 0, used = 0 }
  local shift = math.max(meter.newest - (given[1] or 0), 0)
  for i = 1, shape.buckets do
    meter[i] = i > shift and given[2 + i - shift] or 0
  end
  meter[1] = meter[1] + math.max(extra, 0)
  for i = shape.buckets, 1, -1 do -- from the oldest: which of them came to no call is not told, and so none is forgotten too soon
    local unmade = math.min(meter[i], math.max(-extra, 0))
    meter[i], extra = meter[i] - unmade, extra + unmade
  end
  for i = 1, shape.buckets do
    meter.used = meter.used + meter[i]
    if meter[i] > 0 then meter.oldest = i end
  end
  return meter
end
