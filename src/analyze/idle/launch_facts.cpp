#include "analyze/idle/launch_facts.h"

#include <algorithm>
#include <unordered_map>

#include "analyze/host_roles.h"

namespace gf {

namespace {

/// Stream that waits, by correlation of the waiting call.
std::unordered_map<std::int64_t, std::int64_t> waiting_streams(const Capture& capture) {
  std::unordered_map<std::int64_t, std::int64_t> streams;
  const auto& s = capture.syncs;
  for (std::size_t i = 0; i < s.size(); ++i)
    if (s.correlation[i] >= 0 && s.stream[i] >= 0) streams.emplace(s.correlation[i], s.stream[i]);
  return streams;
}

}  // namespace

LaunchFacts collect_launch_facts(const Context& context) {
  const Capture& capture = context.capture;
  const auto& calls = capture.api_calls;
  const auto& launch = context.attribution.launch;
  LaunchFacts facts;
  facts.started.assign(calls.size(), kNoRow);
  facts.waits.assign(calls.size(), false);
  for (std::uint32_t a = static_cast<std::uint32_t>(launch.size()); a-- > 0;)
    if (launch[a] != kNoRow) facts.started[launch[a]] = a;

  std::vector<char> is_wait(capture.strings.size(), -1);  // by name: not looked at yet, no, yes
  const auto streams = waiting_streams(capture);
  for (std::uint32_t t = 0; t < context.host.threads(); ++t) {
    bool any = false;
    std::vector<std::int64_t> pending;
    for (auto row : context.host.calls(t)) {
      if (facts.started[row] == kNoRow) {
        char& known = is_wait[static_cast<std::uint32_t>(calls.name[row])];
        if (known < 0) known = is_stream_wait(capture.text(calls.name[row]));
        if (!known) continue;
        const auto stream = streams.find(calls.correlation[row]);
        if (stream == streams.end())
          any = true;
        else
          pending.push_back(stream->second);
        continue;
      }
      const auto stream = capture.activities.stream[facts.started[row]];
      facts.waits[row] = any || std::find(pending.begin(), pending.end(), stream) != pending.end();
      any = false;
      std::erase(pending, stream);
    }
  }
  return facts;
}

}  // namespace gf
