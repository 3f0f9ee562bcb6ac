-- An item is one take from one bucket of the slot: name, tokens a second, capacity, `most`. Its answer: see drawAll.
local answers = {}
for at = 3, #ARGV, 4 do
  local bucket = bucketOf('cap:' .. ARGV[at], tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3]))
  answers[#answers + 1] = drawAll({ bucket })
end
return answers
