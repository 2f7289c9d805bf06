#include <nvtx3/nvToolsExt.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <unordered_map>

#include "collect/inject/agent/agent.h"
#include "collect/inject/agent/guard.h"
#include "collect/inject/agent/step.h"
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

namespace gf::inject {

namespace {

std::uint32_t kept_text(const char* text) {
  return Writer::instance().range_text(text ? text : "");
}

/// A text of wide characters as UTF-8; what is no character becomes U+FFFD.
std::uint32_t kept_text(const wchar_t* wide) {
  char bytes[4096];
  std::size_t size = 0;
  for (; wide && *wide != L'\0' && size + 4 < sizeof bytes; ++wide) {
    auto code = static_cast<std::uint32_t>(*wide);
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) code = 0xfffd;
    auto put = [&](std::uint32_t byte) { bytes[size++] = static_cast<char>(byte); };
    if (code < 0x80) {
      put(code);
    } else if (code < 0x800) {
      put(0xc0 | code >> 6);
      put(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
      put(0xe0 | code >> 12);
      put(0x80 | (code >> 6 & 0x3f));
      put(0x80 | (code & 0x3f));
    } else {
      put(0xf0 | code >> 18);
      put(0x80 | (code >> 12 & 0x3f));
      put(0x80 | (code >> 6 & 0x3f));
      put(0x80 | (code & 0x3f));
    }
  }
  return Writer::instance().range_text({bytes, size});
}

/// While nobody records, names are not looked up.
template <class Character>
std::uint32_t text(const Character* name) {
  return recorded() ? kept_text(name) : 0;
}

std::uint32_t name_of(const nvtxEventAttributes_t* left) {
  if (!left) return 0;
  switch (left->messageType) {
    case NVTX_MESSAGE_TYPE_ASCII:
      return text(left->message.ascii);
    case NVTX_MESSAGE_TYPE_UNICODE:
      return text(left->message.unicode);
    case NVTX_MESSAGE_TYPE_REGISTERED: {
      const auto id = reinterpret_cast<std::uintptr_t>(left->message.registered);
      return Writer::instance().knows(id) ? static_cast<std::uint32_t>(id) : 0;
    }
    default:
      return 0;
  }
}

std::uint64_t number_of(nvtxDomainHandle_t domain) {
  return reinterpret_cast<std::uintptr_t>(domain);
}

// The functions as NVTX types them; the default domain is number 0.
void NVTX_API mark_ex(const nvtxEventAttributes_t* left) { mark(name_of(left)); }
void NVTX_API mark_a(const char* name) { mark(text(name)); }
void NVTX_API mark_w(const wchar_t* name) { mark(text(name)); }
nvtxRangeId_t NVTX_API start_ex(const nvtxEventAttributes_t* left) {
  return start_range(name_of(left));
}
nvtxRangeId_t NVTX_API start_a(const char* name) { return start_range(text(name)); }
nvtxRangeId_t NVTX_API start_w(const wchar_t* name) { return start_range(text(name)); }
void NVTX_API end(nvtxRangeId_t id) { end_range(id); }
int NVTX_API push_ex(const nvtxEventAttributes_t* left) { return push_range(0, name_of(left)); }
int NVTX_API push_a(const char* name) { return push_range(0, text(name)); }
int NVTX_API push_w(const wchar_t* name) { return push_range(0, text(name)); }
int NVTX_API pop_default() { return pop_range(0); }
void NVTX_API domain_mark_ex(nvtxDomainHandle_t, const nvtxEventAttributes_t* left) {
  mark(name_of(left));
}
nvtxRangeId_t NVTX_API domain_start_ex(nvtxDomainHandle_t, const nvtxEventAttributes_t* left) {
  return start_range(name_of(left));
}
void NVTX_API domain_end(nvtxDomainHandle_t, nvtxRangeId_t id) { end_range(id); }
int NVTX_API domain_push_ex(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* left) {
  return push_range(number_of(domain), name_of(left));
}
int NVTX_API domain_pop(nvtxDomainHandle_t domain) { return pop_range(number_of(domain)); }

template <class Character>
nvtxStringHandle_t NVTX_API register_string(nvtxDomainHandle_t, const Character* name) {
  return reinterpret_cast<nvtxStringHandle_t>(static_cast<std::uintptr_t>(kept_text(name)));
}

/// Domains of one name are one domain: its number is the text's. The same text as a registered
/// string is another matter.
template <class Character>
nvtxDomainHandle_t NVTX_API domain_create(const Character* name) {
  return reinterpret_cast<nvtxDomainHandle_t>(std::uintptr_t{1} << 32 | kept_text(name));
}

template <class F>
void set(NvtxFunctionTable table, unsigned size, unsigned id, F* function) {
  if (id < size && table[id]) *table[id] = reinterpret_cast<NvtxFunctionPointer>(function);
}

void hook_default_domain(NvtxFunctionTable table, unsigned size) {
  set(table, size, NVTX_CBID_CORE_MarkEx, &mark_ex);
  set(table, size, NVTX_CBID_CORE_MarkA, &mark_a);
  set(table, size, NVTX_CBID_CORE_MarkW, &mark_w);
  set(table, size, NVTX_CBID_CORE_RangeStartEx, &start_ex);
  set(table, size, NVTX_CBID_CORE_RangeStartA, &start_a);
  set(table, size, NVTX_CBID_CORE_RangeStartW, &start_w);
  set(table, size, NVTX_CBID_CORE_RangeEnd, &end);
  set(table, size, NVTX_CBID_CORE_RangePushEx, &push_ex);
  set(table, size, NVTX_CBID_CORE_RangePushA, &push_a);
  set(table, size, NVTX_CBID_CORE_RangePushW, &push_w);
  set(table, size, NVTX_CBID_CORE_RangePop, &pop_default);
}

void hook_domains(NvtxFunctionTable table, unsigned size) {
  set(table, size, NVTX_CBID_CORE2_DomainMarkEx, &domain_mark_ex);
  set(table, size, NVTX_CBID_CORE2_DomainRangeStartEx, &domain_start_ex);
  set(table, size, NVTX_CBID_CORE2_DomainRangeEnd, &domain_end);
  set(table, size, NVTX_CBID_CORE2_DomainRangePushEx, &domain_push_ex);
  set(table, size, NVTX_CBID_CORE2_DomainRangePop, &domain_pop);
  set(table, size, NVTX_CBID_CORE2_DomainRegisterStringA, &register_string<char>);
  set(table, size, NVTX_CBID_CORE2_DomainRegisterStringW, &register_string<wchar_t>);
  set(table, size, NVTX_CBID_CORE2_DomainCreateA, &domain_create<char>);
  set(table, size, NVTX_CBID_CORE2_DomainCreateW, &domain_create<wchar_t>);
}

}  // namespace

}  // namespace gf::inject

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t get_table) {
  using namespace gf::inject;
  if (!recorded() && !dormant()) return 0;
  const auto* callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  if (!callbacks || !callbacks->GetModuleFunctionTable) return 0;
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size) && table)
    hook_default_domain(table, size);
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) && table)
    hook_domains(table, size);
  return 1;
}
