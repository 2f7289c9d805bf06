#include "collect/inject/agent/ranges.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <unordered_map>

#include "collect/inject/agent/agent.h"
#include "collect/inject/agent/guard.h"
#include "collect/inject/agent/step.h"
#include "collect/inject/agent/thread.h"
#include "collect/inject/agent/writer.h"

namespace gf::inject {

struct Open {
  std::uint64_t start;
  std::uint32_t name;
  pid_t process;  // in which it began: a copy of it in a forked child is not the child's
};

/// The open ranges of a domain in a thread.
struct Stack {
  Open* open;
  std::uint32_t size, capacity, beyond;
  std::uint32_t session;  // whose ranges they are
  std::uint64_t domain;
  Stack* next;
};

namespace {

/// Ranges that were pushed past this depth have no record; their pops are matched all the same.
constexpr std::uint32_t kDeepest = 65536;
constexpr int kNotTracked = -2;  // NVTX_NO_PUSH_POP_TRACKING

std::atomic<std::int64_t> steps{0};
std::atomic<std::uint64_t> next_range{1};
std::atomic<std::uint32_t> step_text{0};

using Started = std::unordered_map<std::uint64_t, Open>;
constexpr std::size_t kMostStarted = 1 << 20;
alignas(Started) constinit unsigned char started_storage[sizeof(Started)]{};
Started& started() { return *std::launder(reinterpret_cast<Started*>(started_storage)); }

void free_all(Stack* stack) {
  while (stack) {
    Stack* next = stack->next;
    std::free(stack->open);
    std::free(stack);
    stack = next;
  }
}

__attribute__((constructor(103))) void make_ranges() { new (started_storage) Started; }

/// The stack of a domain in this thread; null when the program is out of memory.
Stack* stack_of(Stack*& first, std::uint64_t domain) {
  for (Stack* stack = first; stack; stack = stack->next) {
    if (stack->domain != domain) continue;
    if (const auto now = session.load(); stack->session != now) {
      stack->session = now;  // a recorder that is gone saw them open
      stack->size = stack->beyond = 0;
    }
    return stack;
  }
  auto* stack = static_cast<Stack*>(std::calloc(1, sizeof(Stack)));
  if (!stack) return nullptr;
  stack->domain = domain;
  stack->session = session;
  stack->next = first;
  first = stack;
  return stack;
}
Stack* ranges_of(std::uint64_t domain) {
  Thread* thread = this_thread();
  if (thread) return stack_of(thread->stacks, domain);
  return nullptr;
}
Stack* steps_here() {
  Thread* thread = this_thread();
  if (thread) return stack_of(thread->steps, 0);
  return nullptr;
}

bool grow(Stack& stack) {
  std::uint32_t capacity = 16;
  if (stack.capacity != 0) capacity = 2 * stack.capacity;
  if (capacity > kDeepest) return false;
  auto* larger = static_cast<Open*>(std::realloc(stack.open, capacity * sizeof(Open)));
  if (!larger) return false;
  stack.open = larger;
  stack.capacity = capacity;
  return true;
}

int push(Stack* stack, Open open) {
  if (!stack) return -1;
  if (stack->beyond > 0 || (stack->size == stack->capacity && !grow(*stack)))
    return static_cast<int>(stack->size + stack->beyond++);
  stack->open[stack->size++] = open;
  return static_cast<int>(stack->size) - 1;
}

/// False when nothing was open, or what was has no record.
bool pop(Stack* stack, Open& open) {
  if (!stack) return false;
  if (stack->beyond > 0) {
    --stack->beyond;
    return false;
  }
  if (stack->size == 0) return false;
  open = stack->open[--stack->size];
  return true;
}

std::uint32_t step_name() {
  if (step_text == 0) step_text = Writer::instance().text(kStepName);
  return step_text;
}

void write(const Open& open, std::uint64_t end) {
  Thread* thread = this_thread();
  if (!thread) return;
  const bool step = open.name != 0 && open.name == step_name();
  if (!step && between_windows()) return;
  Writer::instance().put(
      Type::range, Range{static_cast<std::int64_t>(open.start), static_cast<std::int64_t>(end),
                         id_of(*thread), open.name});
  if (step) count_step();
}

}  // namespace

void free_stacks(Thread& thread) {
  free_all(thread.stacks);
  free_all(thread.steps);
  thread.stacks = thread.steps = nullptr;
}

void count_step() { ++steps; }
std::int64_t steps_so_far() { return steps; }

int push_range(std::uint64_t domain, std::uint32_t name) {
  if (!recorded()) return kNotTracked;
  return push(ranges_of(domain), {now_ns(), name, getpid()});
}

int pop_range(std::uint64_t domain) {
  if (!recorded()) return kNotTracked;
  Stack* stack = ranges_of(domain);
  if (!stack || stack->size + stack->beyond == 0) return -1;
  Open open{};
  if (pop(stack, open)) write(open, now_ns());
  return static_cast<int>(stack->size + stack->beyond);
}

void mark(std::uint32_t name) {
  if (!recorded()) return;
  const auto now = now_ns();
  write({now, name, getpid()}, now);
}

std::uint64_t start_range(std::uint32_t name) {
  const std::uint64_t id = next_range++;
  if (!recorded()) return id;
  const Inside inside;
  if (inside && started().size() < kMostStarted && memory_for(32 * started().size()))
    started()[id] = {now_ns(), name, getpid()};
  return id;
}

void end_range(std::uint64_t id) {
  if (!recorded()) return;
  Open open{};
  {
    const Inside inside;
    if (!inside) return;
    const auto it = started().find(id);
    if (it == started().end()) return;
    open = it->second;
    started().erase(it);
  }
  write(open, now_ns());
}

void begin_step() { push(steps_here(), {now_ns(), step_name(), getpid()}); }

void end_step() {
  Open step{};
  if (pop(steps_here(), step) && step.process == getpid()) write(step, now_ns());
}

}  // namespace gf::inject

extern "C" __attribute__((visibility("default"))) void gpufathom_step_begin() {
  if (gf::inject::recorded()) gf::inject::begin_step();
}

extern "C" __attribute__((visibility("default"))) void gpufathom_step_end() {
  if (gf::inject::recorded()) gf::inject::end_step();
}
