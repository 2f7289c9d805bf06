#include "collect/microbench/load.h"

#include <deque>

namespace gf::microbench {

namespace {
constexpr std::size_t kInFlight = 4;  // launches queued, so that the GPU never waits for the host
}

Load::Load(std::shared_ptr<cuda::Context> context, const cuda::Kernel& kernel,
           const cuda::Launch& shape, void** arguments)
    : context_(std::move(context)),
      kernel_(kernel),
      shape_(shape),
      arguments_(arguments),
      thread_([this] { feed(); }) {}

void Load::feed() {
  context_->make_current();
  std::deque<cuda::Event> queue;
  while (!stop_) {
    while (queue.size() < kInFlight) {
      if (status_ = kernel_.launch(shape_, arguments_); !status_) return;
      auto created = cuda::Event::create(context_);
      if (!created) {
        status_ = tl::unexpected(created.error());
        return;
      }
      if (status_ = created->record(); !status_) return;
      queue.push_back(std::move(*created));
    }
    if (status_ = queue.front().wait(); !status_) return;
    queue.pop_front();
    ends_.push_back(Clock::now());
  }
  for (auto& pending : queue) (void)pending.wait();
}

Status Load::stop() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
  return status_;
}

std::optional<double> Load::launches_per_second(Clock::time_point from,
                                                Clock::time_point to) const {
  std::vector<Clock::time_point> inside;
  for (const auto& end : ends_)
    if (end >= from && end <= to) inside.push_back(end);
  if (inside.size() < 2) return std::nullopt;
  return static_cast<double>(inside.size() - 1) /
         std::chrono::duration<double>(inside.back() - inside.front()).count();
}

}  // namespace gf::microbench
