-- Part four of the exchange: whether this drain is still needed; and the reply.
-- One drain is the first on its set. Another whose window ends with that one's, or little later, is not needed unless it
-- has work; it leaves once it has seen that the first still ticks. One whose window reaches further takes over.
local idle = window > 0 and made == 0 and inHand == 0
if idle and (nextDue == '' or tonumber(nextDue) > now + window) then
  if role == 'first' then redis.call('DEL', awake) end
  role = 'leave'
elseif role ~= 'helper' and window > 0 then
  local mark = role ~= 'first' and redis.call('GET', awake) or ''
  if (tonumber(string.match(mark, '^%S+')) or 0) < now + window - ahead then
    local text = exact(now + window) .. ' ' .. exact(now)
    redis.call('SET', awake, text, 'PX', math.max(math.floor(math.min(2 * ahead, window)), 1))
    role = 'first'
  elseif idle and role ~= 'new' and role ~= 'further ' .. mark then
    role = 'covered'
  elseif role == 'new' then
    role = 'further ' .. mark
  end
elseif role == 'new' then
  role = 'further '
end

-- A nil would cut the reply short, so nothing here is ever absent.
local shown = state == 'open' and 'open' or state and exact(1 / rate) or ''
return { exact(now), nextDue, role, claimed, stale, shown }
