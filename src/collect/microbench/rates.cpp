// The best rate of a microbenchmark, timed by events on the device.
#include <algorithm>

#include "collect/microbench/run.h"

namespace gf::microbench {

Result<double> Runner::best_rate(const Microbench& bench, double seconds, int launches) {
  auto compiled = kernel(bench);
  if (!compiled) return tl::unexpected(compiled.error());
  if (auto status = prepare(bench); !status) return tl::unexpected(status.error());
  const Plan plan = full(bench);
  std::uint64_t base = data_ ? data_->address() : 0, sink = sink_->address(),
                per_warp = bench.bytes_per_warp;
  std::uint32_t loops = 64, zero = 0;
  void* args[] = {&base, &sink, &loops, &per_warp, &zero};
  auto begin = cuda::Event::create(context_), end = cuda::Event::create(context_);
  if (!begin) return tl::unexpected(begin.error());
  if (!end) return tl::unexpected(end.error());
  auto timed = [&]() -> Result<double> {
    if (auto status = begin->record(); !status) return tl::unexpected(status.error());
    if (auto status = (*compiled)->launch({plan.blocks, plan.threads, bench.shared_bytes}, args);
        !status)
      return tl::unexpected(status.error());
    if (auto status = end->record(); !status) return tl::unexpected(status.error());
    if (auto status = end->wait(); !status) return tl::unexpected(status.error());
    return end->seconds_since(*begin);
  };
  constexpr int kRounds = 3;  // until a launch takes about as long as asked
  for (int round = 0; round < kRounds; ++round) {
    const auto took = timed();
    if (!took) return fail(bench.id + ": " + took.error().what);
    loops =
        static_cast<std::uint32_t>(std::clamp(loops * seconds / std::max(*took, 1e-6), 1.0, 4e9));
  }
  double best = 0;
  for (int launch = 0; launch < launches; ++launch) {
    const auto took = timed();
    if (!took) return fail(bench.id + ": " + took.error().what);
    if (*took > 0) best = std::max(best, loops / *took);
  }
  return best;
}

Result<Runner::LinkRates> Runner::measure_link(std::size_t bytes, int copies) {
  if (auto status = wake(); !status) return tl::unexpected(status.error());
  auto host = cuda::HostBuffer::allocate(context_, bytes);
  if (!host) return tl::unexpected(host.error());
  auto device = cuda::Buffer::allocate(context_, bytes);
  if (!device) return tl::unexpected(device.error());
  auto begin = cuda::Event::create(context_), end = cuda::Event::create(context_);
  if (!begin) return tl::unexpected(begin.error());
  if (!end) return tl::unexpected(end.error());
  LinkRates rates;
  for (int copy = 0; copy < 2 * copies; ++copy) {
    const bool up = copy % 2 == 0;
    if (auto status = begin->record(); !status) return tl::unexpected(status.error());
    if (auto status =
            up ? device->upload(host->data(), bytes) : device->download(host->data(), bytes);
        !status)
      return tl::unexpected(status.error());
    if (auto status = end->record(); !status) return tl::unexpected(status.error());
    if (auto status = end->wait(); !status) return tl::unexpected(status.error());
    const auto took = end->seconds_since(*begin);
    if (!took) return tl::unexpected(took.error());
    double& best = up ? rates.to_device : rates.to_host;
    if (*took > 0) best = std::max(best, static_cast<double>(bytes) / *took);
  }
  return rates;
}

}  // namespace gf::microbench
