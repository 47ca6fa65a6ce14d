-- The end of schedule.lua, enqueue.lua and tidy.lua: whether a drain is awake. The mark is taken here for a moment, so that
-- fifty submits at once wake one drain, not fifty. What it says: role.lua.
local till = tonumber(string.match(redis.call('HGET', account, 'awake') or '', '^%S+')) or 0
local wake = hasWork and (till <= now or till > now + 30000)
local said = queued and { 'queued', '1' } or {}
if wake then said[#said + 1], said[#said + 2] = 'awake', string.format('%.17g 0 0', now + tonumber(ARGV[1])) end
if wake or isBusy then
  redis.call('SADD', busy, ARGV[3])
  said[#said + 1], said[#said + 2] = 'busy', '1'
end
if #said > 0 then redis.call('HSET', account, unpack(said)) end
return { string.format('%.17g', added), wake and '1' or '0' }
