-- Part eight of the exchange: whether this drain is still needed. Field awake: '<it counts until> <when the window of the first
-- drain ends> <when it last ticked>', ms; from a submit that has woken a drain: '<it counts until> 0 0'.
-- One drain is the first on its set. Another whose window ends with that one's, or little later, is not needed unless it
-- has work; it leaves once it has seen that the first still ticks. One whose window reaches further takes over.
local awakeMax = 30000
-- What keeps the next claim back: this drain may leave if it lasts for its whole window.
local backAt = math.max(shut and math.ceil(at) or 0, made == 0 and reads.again or 0)
if nextDue ~= '' then nextDue = exact(math.max(tonumber(nextDue), math.ceil(backAt))) end
if isPaused then nextDue = '' end
-- When the next may be admitted. A slot comes free with a read, which is due some time, or if none is in use, by itself.
local slotAt, admitAt = free - admitted >= 1 and now or inUse + admitted == 0 and now + climbEvery, nil
if slotAt and field.queued ~= '' and field.paused == '' then
  admitAt = math.max(holdTill, creates.may - admitted < 1 and creates.again or 0, shut and at or 0, slotAt)
end
if admitAt and (nextDue == '' or admitAt < tonumber(nextDue)) then nextDue = exact(math.ceil(admitAt)) end
local idle = window > 0 and made + admitted == 0 and inHand == 0
if idle and (nextDue == '' or tonumber(nextDue) > now + window) then
  if role == 'first' then field.awake = '' end
  role = 'leave'
elseif role ~= 'helper' and window > 0 then
  local till, mark = string.match(role ~= 'first' and field.awake or '', '^(%S+) (.*)$')
  till = tonumber(till) or 0
  if till <= now or till > now + awakeMax then mark = '' end
  if (tonumber(string.match(mark, '^%S+')) or 0) < now + window - ahead then
    local lasts = math.max(math.floor(math.min(2 * ahead, window)), 1)
    field.awake = exact(now + lasts) .. ' ' .. exact(now + window) .. ' ' .. exact(now)
    role = 'first'
  elseif idle and role ~= 'new' and role ~= 'further ' .. mark then
    role = 'covered'
  elseif role == 'new' then
    role = 'further ' .. mark
  end
elseif role == 'new' then
  role = 'further '
end
