-- What wrk sends, and how it checks the answers. The words after "--": the request's method, path, access token and body, the
-- status and length of the answer, the first id, and a file with a token in each line. A "##########" in a request stands for
-- the next id, or with a file for the next token.
local threads = {}

function setup(thread)
  table.insert(threads, thread)
end

function init(words)
  local method, path, token, body = words[1], words[2], words[3], words[4]
  status, length, id = tonumber(words[5]), tonumber(words[6]), tonumber(words[7])
  right, wrong = 0, 0
  wrk.method, wrk.path = method, path
  wrk.headers['Authorization'] = 'Bearer ' .. token
  if body ~= '' then
    wrk.body = body
    wrk.headers['Content-Type'] = 'application/json'
  end
  local tokens
  if words[8] ~= '' then
    tokens = {}
    for token in io.lines(words[8]) do table.insert(tokens, token) end
  end
  local head, tail = wrk.format():match('^(.-)##########(.*)$')
  if head then
    function request()
      local text = head .. (tokens and tokens[id % #tokens + 1] or id) .. tail
      id = id + 1
      return text
    end
  end
end

function response(answered, _, body)
  if answered == status and #body == length then
    right = right + 1
  else
    wrong = wrong + 1
  end
end

function done(summary, latency)
  local right, wrong, failed = 0, 0, summary.errors
  for _, thread in ipairs(threads) do
    right, wrong = right + thread:get('right'), wrong + thread:get('wrong')
  end
  print(string.format('{"right":%d,"wrong":%d,"seconds":%f,"p50":%f,"p90":%f,"p99":%f}',
    right, wrong + failed.connect + failed.read + failed.write + failed.timeout, summary.duration / 1e6,
    latency:percentile(50) / 1e3, latency:percentile(90) / 1e3, latency:percentile(99) / 1e3))
end
