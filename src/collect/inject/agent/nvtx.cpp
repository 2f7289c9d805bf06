// NVTX ranges and marks of the program, and its steps by step.h. The program's NVTX calls
// InitializeInjectionNvtx2 of the library that NVTX_INJECTION64_PATH names, before its first range.
#include <nvtx3/nvToolsExt.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "collect/inject/agent/agent.h"
#include "collect/inject/agent/step.h"
#include "collect/inject/agent/writer.h"

namespace gf::inject {

namespace {

struct Open {
  std::uint64_t start;
  std::uint32_t name;
};
thread_local std::vector<Open> stack;

// Steps that began by step.h: apart from the ranges, which the program may leave open inside a
// step.
struct OpenStep {
  std::uint64_t start;
  pid_t process;
};
thread_local std::vector<OpenStep> open_steps;

/// The thread's number; a forked child's is a new one.
std::uint32_t thread_id() {
  thread_local pid_t process = 0;
  thread_local std::uint32_t id = 0;
  if (process != getpid()) process = getpid(), id = static_cast<std::uint32_t>(syscall(SYS_gettid));
  return id;
}

// Ranges that may end on another thread; never destroyed, because threads may outlive main.
std::mutex& started_mutex = *new std::mutex;
std::unordered_map<std::uint64_t, Open>& started = *new std::unordered_map<std::uint64_t, Open>;
std::atomic<std::uint64_t> next_range{1};

std::uint32_t name_of(const nvtxEventAttributes_t* a) {
  if (!a) return 0;
  if (a->messageType == NVTX_MESSAGE_TYPE_ASCII && a->message.ascii)
    return Writer::instance().text(a->message.ascii);
  if (a->messageType == NVTX_MESSAGE_TYPE_REGISTERED)
    return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(a->message.registered));
  return 0;
}

std::uint32_t step_name() {
  static const std::uint32_t name = Writer::instance().text(kStepName);
  return name;
}

void write(const Open& open, std::uint64_t end) {
  const bool step = open.name == step_name();
  if (!step && between_windows()) return;
  Writer::instance().put(
      Type::range, Range{static_cast<std::int64_t>(open.start), static_cast<std::int64_t>(end),
                         thread_id(), open.name});
  if (step) count_step();
}

int push(std::uint32_t name) {
  stack.push_back({now_ns(), name});
  return static_cast<int>(stack.size()) - 1;
}
int pop() {
  if (stack.empty()) return -1;
  const Open open = stack.back();
  stack.pop_back();
  write(open, now_ns());
  return static_cast<int>(stack.size());
}
void mark(std::uint32_t name) {
  const auto now = now_ns();
  write({now, name}, now);
}
nvtxRangeId_t start(std::uint32_t name) {
  const auto id = next_range++;
  std::lock_guard lock(started_mutex);
  started[id] = {now_ns(), name};
  return id;
}
void end(nvtxRangeId_t id) {
  Open open{};
  {
    std::lock_guard lock(started_mutex);
    const auto it = started.find(id);
    if (it == started.end()) return;
    open = it->second;
    started.erase(it);
  }
  write(open, now_ns());
}

// The functions as NVTX types them.
void NVTX_API mark_ex(const nvtxEventAttributes_t* a) { mark(name_of(a)); }
void NVTX_API mark_a(const char* text) { mark(Writer::instance().text(text ? text : "")); }
nvtxRangeId_t NVTX_API start_ex(const nvtxEventAttributes_t* a) { return start(name_of(a)); }
nvtxRangeId_t NVTX_API start_a(const char* text) {
  return start(Writer::instance().text(text ? text : ""));
}
void NVTX_API end_range(nvtxRangeId_t id) { end(id); }
int NVTX_API push_ex(const nvtxEventAttributes_t* a) { return push(name_of(a)); }
int NVTX_API push_a(const char* text) { return push(Writer::instance().text(text ? text : "")); }
int NVTX_API pop_range() { return pop(); }
void NVTX_API domain_mark_ex(nvtxDomainHandle_t, const nvtxEventAttributes_t* a) {
  mark(name_of(a));
}
nvtxRangeId_t NVTX_API domain_start_ex(nvtxDomainHandle_t, const nvtxEventAttributes_t* a) {
  return start(name_of(a));
}
void NVTX_API domain_end(nvtxDomainHandle_t, nvtxRangeId_t id) { end(id); }
int NVTX_API domain_push_ex(nvtxDomainHandle_t, const nvtxEventAttributes_t* a) {
  return push(name_of(a));
}
int NVTX_API domain_pop(nvtxDomainHandle_t) { return pop(); }
nvtxStringHandle_t NVTX_API register_string_a(nvtxDomainHandle_t, const char* text) {
  return reinterpret_cast<nvtxStringHandle_t>(
      static_cast<std::uintptr_t>(Writer::instance().text(text ? text : "")));
}
nvtxDomainHandle_t NVTX_API domain_create_a(const char*) {
  return reinterpret_cast<nvtxDomainHandle_t>(std::uintptr_t{1});
}

template <class F>
void set(NvtxFunctionTable table, unsigned size, unsigned id, F* function) {
  if (id < size && table[id]) *table[id] = reinterpret_cast<NvtxFunctionPointer>(function);
}

}  // namespace

}  // namespace gf::inject

extern "C" __attribute__((visibility("default"))) void gpufathom_step_begin() {
  gf::inject::open_steps.push_back({gf::inject::now_ns(), getpid()});
}

extern "C" __attribute__((visibility("default"))) void gpufathom_step_end() {
  using namespace gf::inject;
  if (open_steps.empty()) return;
  const OpenStep step = open_steps.back();
  open_steps.pop_back();
  if (step.process == getpid()) write({step.start, step_name()}, now_ns());
}

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t get_table) {
  using namespace gf::inject;
  const auto* callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  if (!callbacks || !callbacks->GetModuleFunctionTable) return 0;
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size) && table) {
    set(table, size, NVTX_CBID_CORE_MarkEx, &mark_ex);
    set(table, size, NVTX_CBID_CORE_MarkA, &mark_a);
    set(table, size, NVTX_CBID_CORE_RangeStartEx, &start_ex);
    set(table, size, NVTX_CBID_CORE_RangeStartA, &start_a);
    set(table, size, NVTX_CBID_CORE_RangeEnd, &end_range);
    set(table, size, NVTX_CBID_CORE_RangePushEx, &push_ex);
    set(table, size, NVTX_CBID_CORE_RangePushA, &push_a);
    set(table, size, NVTX_CBID_CORE_RangePop, &pop_range);
  }
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) && table) {
    set(table, size, NVTX_CBID_CORE2_DomainMarkEx, &domain_mark_ex);
    set(table, size, NVTX_CBID_CORE2_DomainRangeStartEx, &domain_start_ex);
    set(table, size, NVTX_CBID_CORE2_DomainRangeEnd, &domain_end);
    set(table, size, NVTX_CBID_CORE2_DomainRangePushEx, &domain_push_ex);
    set(table, size, NVTX_CBID_CORE2_DomainRangePop, &domain_pop);
    set(table, size, NVTX_CBID_CORE2_DomainRegisterStringA, &register_string_a);
    set(table, size, NVTX_CBID_CORE2_DomainCreateA, &domain_create_a);
  }
  return 1;
}
