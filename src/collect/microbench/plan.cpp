#include "collect/microbench/plan.h"

#include <algorithm>
#include <deque>
#include <random>

namespace gf::microbench {

std::vector<Plan> asleep_plans() {
  return {{.bench = "asleep", .threads = 0, .blocks = 0, .seconds = 3, .repeat = 0}};
}

std::vector<Plan> calibration_plans(const Runner& runner, const Effort& effort, unsigned seed) {
  std::vector<Plan> plans;
  auto add = [&](Plan plan, int repeats) {
    for (plan.repeat = 0; plan.repeat < repeats; ++plan.repeat) plans.push_back(plan);
  };
  for (const auto& bench : runner.benches()) {
    Plan full = runner.full(bench);
    full.seconds = effort.seconds;
    add(full, effort.repeats);
    // Levels, and what a division adds to each: threads of a block (thesis, figures 5.8 to 5.10).
    if (bench.addresses)
      for (unsigned threads = 1; threads < full.threads; threads *= 2) {
        Plan plan = full;
        plan.threads = threads;
        add(plan, effort.sweep_repeats);
      }
    if (bench.addresses && bench.feature != "div") {
      for (unsigned part : {8u, 4u, 2u}) {
        Plan plan = full;
        plan.blocks = full.blocks / part;
        add(plan, effort.sweep_repeats);
      }
      for (double factor : {0.5, 2.0}) {  // number of accesses, by the length of the run
        Plan plan = full;
        plan.seconds = effort.seconds * factor;
        plan.repeat = 0;
        add(plan, 1);
      }
    }
    // Fewer SMs at work set active power apart, and keep the tensor cores under the power cap, at
    // the full clock.
    if (bench.id == "fma_fp32" || bench.id == "dram_load_wide" || bench.id == "l2_load_wide" ||
        bench.id == "spin" || bench.feature.starts_with("tensor."))
      for (unsigned part : {4u, 2u}) {
        Plan plan = full;
        plan.blocks = std::max(1u, full.blocks / part);
        add(plan, effort.sweep_repeats);
      }
  }
  add({.bench = "context", .threads = 0, .blocks = 0, .seconds = effort.seconds}, 4);
  std::shuffle(plans.begin(), plans.end(), std::mt19937(seed));
  return plans;
}

std::vector<Plan> listed_plans(const Runner& runner, std::vector<Plan> list, double seconds) {
  std::erase_if(list, [&](const Plan& plan) { return !runner.find(plan.bench); });
  for (auto& plan : list) plan.seconds = seconds;
  Plan idle{.bench = "context", .threads = 0, .blocks = 0, .seconds = seconds};
  for (const std::size_t at : {list.size(), list.size() / 2, std::size_t{0}, std::size_t{0}})
    list.insert(list.begin() + static_cast<std::ptrdiff_t>(at), idle);
  int number = 0;
  for (auto& plan : list)
    if (plan.bench == "context") plan.repeat = number++;
  return list;
}

double expected_seconds(const std::vector<Plan>& plans) {
  double sum = 0;
  for (const auto& plan : plans)
    sum += plan.seconds +
           0.6;  // rise time, the wait for the first counter update, finding the launch length
  return sum;
}

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
