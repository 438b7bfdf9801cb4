-- Merge patch of one annotation, over many objects in turn. Arguments: bearer token, path before the number, how many.
dofile(debug.getinfo(1, "S").source:match("@(.*/)") .. "common.lua")
local threads = 0

function setup(thread)
  thread:set("number", threads)
  threads = threads + 1
end

function init(args)
  wrk.method = "PATCH"
  wrk.headers["Authorization"] = "Bearer " .. args[1]
  wrk.headers["Content-Type"] = "application/merge-patch+json"
  path, objects = args[2], tonumber(args[3])
  count = number * 100000
end

function request()
  count = count + 1
  local body = '{"metadata":{"annotations":{"example.com/touched":"' .. count .. '"}}}'
  return wrk.format(nil, path .. (count % objects), nil, body)
end
