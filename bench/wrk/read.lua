-- GET of one URL. Arguments: bearer token.
dofile(debug.getinfo(1, "S").source:match("@(.*/)") .. "common.lua")

function init(args)
  wrk.headers["Authorization"] = "Bearer " .. args[1]
end
