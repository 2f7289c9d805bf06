#include "report/perfetto/export.h"

#include <algorithm>

#include "report/perfetto/parts.h"

namespace gf {

namespace {

Nanos earliest(const Capture& c) {
  Nanos first = 0;
  auto look = [&](const auto& column) {
    for (const auto t : column) first = std::min(first, t);
  };
  look(c.activities.start_ns);
  look(c.host_ops.start_ns);
  look(c.api_calls.start_ns);
  look(c.counter_samples.start_ns);
  for (const auto& block : c.sample_blocks) first = std::min(first, block.first_ns);
  return first;
}

}  // namespace

Status write_perfetto(const Context& context, const perfetto::Sink& sink) {
  perfetto::PacketWriter out(sink);
  perfetto::Export e{context, out, -earliest(context.capture)};
  perfetto::write_devices(e);
  perfetto::write_queues(e);
  perfetto::write_samples(e);
  perfetto::write_host(e);
  return out.finish();
}

}  // namespace gf
