-- Prints what a run came to as one line of JSON; latencies are in microseconds.
function done(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests":%d,"microseconds":%d,"p50":%d,"p99":%d,"failed":%d,"broken":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    errors.status, errors.connect + errors.read + errors.write + errors.timeout))
end

function slurp(file)
  local handle = assert(io.open(file, "rb"))
  local content = handle:read("*a")
  handle:close()
  return content
end
