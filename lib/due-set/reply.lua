-- Part nine of the exchange: what is kept for the next tick, and the reply.
-- Returns strings: now; next due or ''; 'leave' if nothing is left for the caller in its window, 'covered' if it may leave
-- because the first drain goes on for as long, else what it is now: 'first', 'further <the mark it saw>', 'helper';
-- then two flat lists:
-- claims (id, due, token, claims in a row, rank if it was admitted just now) · stale ids (the token no longer holds; nothing was
-- changed); last the breaker: '' closed, 'open', 'held', 'denied', or while recovering the ms between two of these claims
local saysMore = false
for i = 1, 4 do
  if i % 2 == 0 and told[i] and told[i] > now then saysMore = true end
  told[i] = told[i] and exact(told[i]) or '-'
end
field.told = saysMore and table.concat(told, ' ') or ''
-- Field busy: '1' while the account is among those that have work.
if field.busy ~= '' and role == 'leave' and #range == 0 and field.queued == '' then
  redis.call('SREM', busy, ARGV[25])
  field.busy = ''
end
local changed = {}
for i, name in ipairs(names) do
  if field[name] ~= (found[i] or '') then changed[#changed + 1], changed[#changed + 2] = name, field[name] end
end
if #changed > 0 then redis.call('HSET', account, unpack(changed)) end
-- A nil would cut the reply short, so nothing here is ever absent.
local shown = shut and state or state == 'recovering' and exact(1 / rate) or ''
return { exact(now), nextDue, role, claimed, stale, shown }
