#include "report/perfetto/export.h"

#include <algorithm>

#include "report/perfetto/parts.h"

namespace gf {

namespace {

Nanos earliest(const Capture& capture) {
  Nanos first = 0;
  auto look = [&](const auto& column) {
    for (const auto time : column) first = std::min(first, time);
  };
  look(capture.activities.start_ns);
  look(capture.host_ops.start_ns);
  look(capture.api_calls.start_ns);
  look(capture.counter_samples.start_ns);
  for (const auto& block : capture.sample_blocks) first = std::min(first, block.first_ns);
  return first;
}

}  // namespace

Status write_perfetto(const Context& context, const perfetto::Sink& sink) {
  perfetto::PacketWriter out(sink);
  perfetto::Export target{context, out, -earliest(context.capture)};
  perfetto::write_devices(target);
  perfetto::write_queues(target);
  perfetto::write_samples(target);
  perfetto::write_host(target);
  return out.finish();
}

}  // namespace gf
