-- GET of one URL. Arguments: bearer token; the name and the value of another header, where there is one.
dofile(debug.getinfo(1, "S").source:match("@(.*/)") .. "common.lua")

function init(args)
  wrk.headers["Authorization"] = "Bearer " .. args[1]
  if args[2] then wrk.headers[args[2]] = args[3] end
end
