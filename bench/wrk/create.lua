-- POST of objects with ever new names. Arguments: bearer token, a file with the body in which @NAME@ stands for the
-- name, wherever it stands, a word that makes the names of this run unlike others.
dofile(debug.getinfo(1, "S").source:match("@(.*/)") .. "common.lua")
local MARK = "@NAME@"
local threads = 0

function setup(thread)
  thread:set("number", threads)
  threads = threads + 1
end

function init(args)
  wrk.method = "POST"
  wrk.headers["Authorization"] = "Bearer " .. args[1]
  wrk.headers["Content-Type"] = "application/json"
  local body = slurp(args[2])
  parts = {}
  local from, at = 1, assert(string.find(body, MARK, 1, true))
  while at do
    parts[#parts + 1] = string.sub(body, from, at - 1)
    from, at = at + #MARK, string.find(body, MARK, at + #MARK, true)
  end
  parts[#parts + 1] = string.sub(body, from)
  prefix = args[3] .. "-" .. number .. "-"
  count = 0
end

function request()
  count = count + 1
  return wrk.format(nil, nil, nil, table.concat(parts, prefix .. count))
end
