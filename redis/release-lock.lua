-- KEYS[1] lock, ARGV[1] token. Only the holder may release it: an expired lock may have a new holder.
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0
