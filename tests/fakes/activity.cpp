// CUPTI Activity for machines without a GPU: what the fake CUDA driver says that it ran (fake_ran)
// goes through the buffers of whoever subscribed, by the real one's rules: one subscriber, records
// only of kinds that are enabled, timestamps of the registered clock. A call from a forked child,
// which the real CUPTI may never return from, is noted in the file that GPUFATHOM_FAKE_LOG names.
// Options of GPUFATHOM_FAKE: subscriber (0/1: another profiler is in the program), dropped (records
// that CUPTI says it dropped), timeless (every Nth record has no time), behind_ms (kernels run so
// long after their launch, as in a queue; a forced flush hands over without a time what has not
// run), lingering_graphs (0/1: graphs are still traced when nothing is enabled any more),
// silent_window (the Nth time that kernels are asked for, none come: the buffer is kept back),
// whole_buffers (0/1: with behind_ms, a flush on demand hands over nothing while a kernel is in the
// queue), copies_run (0/1: while copies are traced, one is always under way, so that only full
// buffers are handed over), disabling (1: a flush after copies were switched off, once there were
// any, ends the program, as on an H200; 2: after anything was).
#include <cupti.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "ran.h"
#include "world.h"

namespace {

constexpr std::size_t kCallsAtOnce = 64;

constexpr CUpti_CallbackId kHandle = CUPTI_DRIVER_TRACE_CBID_cuGraphConditionalHandleCreate;

struct State {
  std::recursive_mutex mutex;  // whoever takes a buffer asks for what was dropped
  pid_t process = getpid();
  std::atomic<bool> subscribed{false}, graphs{false}, nodes{false};
  std::set<int> kinds;
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  CUpti_TimestampCallbackFunc clock = nullptr;
  std::uint8_t *buffer = nullptr, *kept_back = nullptr;
  std::size_t size = 0, used = 0, unwritten = 0;
  std::int64_t flush_every = 0, flushed = 0;
  std::uint32_t correlation = 0;
  bool told_dropped = false;
  CUpti_CallbackFunc function = nullptr;
  std::set<std::uint32_t> callbacks;  // of the driver API
  std::uint64_t data[kCallsAtOnce] = {};
  std::int64_t records = 0;
  std::int64_t asked_for_kernels = 0;        // times
  bool copied = false, doomed = false;       // see the option "disabling"
  bool node_by_node = false;                 // a graph was made ready while graphs were not wholes
  bool conditional = false;                  // one with a conditional node
  int conditional_room = 5;                  // launches of it that CUPTI has room for
  std::uint64_t captured = 0;                // nodes that calls made so far
  std::deque<CUpti_ActivityKernel10> queue;  // launched, not yet run; times are the host's
};
State& state() {
  static State* s = new State;
  return *s;
}

void note(const char* line) {
  const char* path = std::getenv("GPUFATHOM_FAKE_LOG");
  std::FILE* file = path ? std::fopen(path, "a") : nullptr;
  if (!file) return;
  std::fprintf(file, "%s\n", line);
  std::fclose(file);
}

/// A node is its number.
CUgraphNode node_of(std::uint64_t number) { return reinterpret_cast<CUgraphNode>(number); }

/// As the real one tells of a node: `original` 0: a call made it.
void tell_of_node(State& s, CUpti_CallbackId what, std::uint64_t node, std::uint64_t original) {
  CUpti_GraphData data{};
  data.node = node_of(node);
  data.originalNode = node_of(original);
  CUpti_ResourceData resource{};
  resource.resourceDescriptor = &data;
  if (s.subscribed && s.nodes) s.function(nullptr, CUPTI_CB_DOMAIN_RESOURCE, what, &resource);
}

constexpr std::uint64_t kFirstNode = 100;

void note_child() {
  if (getpid() != state().process) note("CUPTI was called in a forked child");
}

void hand_over(State& s) {
  if (s.doomed) std::raise(SIGSEGV);
  if (!s.buffer) return;
  auto* buffer = std::exchange(s.buffer, nullptr);
  s.complete(nullptr, 0, buffer, s.size, std::exchange(s.used, 0));
}

/// A time of the host's on the registered clock, both read at one moment: of several tries the one
/// in between whose reads the least time passed, since others may have the processor meanwhile.
std::uint64_t on_clock(const State& s, std::int64_t host) {
  if (!s.clock) return static_cast<std::uint64_t>(host);
  std::int64_t least = INT64_MAX, ahead = 0;
  for (int tries = 0; tries < 20 && least > 5'000; ++tries) {
    const std::int64_t before = fake::now_ns();
    const auto clock = static_cast<std::int64_t>(s.clock());
    const std::int64_t took = fake::now_ns() - before;
    if (took < least) {
      least = took;
      ahead = clock - before - took / 2;
    }
  }
  return static_cast<std::uint64_t>(host + ahead);
}

template <class Record>
void put(State& s, const Record& record) {
  if (s.buffer && s.used + sizeof record > s.size) hand_over(s);
  if (!s.buffer) {
    std::size_t most = 0;
    s.request(&s.buffer, &s.size, &most);
    if (!s.buffer) {
      ++s.unwritten;
      return;
    }
  }
  std::memcpy(s.buffer + s.used, &record, sizeof record);
  s.used += sizeof record;
}

/// Hands over what has run by now, with `all` also what has not. The real one still writes the
/// times into that memory when the kernels run: it is noted.
void take_from_queue(State& s, bool all) {
  const std::int64_t now = fake::now_ns();
  while (!s.queue.empty()) {
    auto kernel = s.queue.front();
    const bool ran = static_cast<std::int64_t>(kernel.end) <= now;
    if (!ran && !all) return;
    s.queue.pop_front();
    if (!ran) note("CUPTI was made to give out what has not run");
    const auto ran_for = kernel.end - kernel.start;  // each time is read anew: no difference of two
    kernel.start = ran ? on_clock(s, static_cast<std::int64_t>(kernel.start)) : 0;
    kernel.end = ran ? kernel.start + ran_for : 0;
    put(s, kernel);
  }
}

/// The place of a record, for records of all kinds.
template <class Record>
Record record_of(CUpti_ActivityKind kind, const FakeRun& run) {
  Record record{};
  record.kind = kind;
  record.deviceId = run.device;
  record.contextId = 1;
  record.streamId = 7;
  record.correlationId = run.correlation;
  return record;
}

bool records_kernel(State& s, const FakeRun& run) {
  if (run.graph != 0 && s.asked_for_kernels > 0 && fake::number("lingering_graphs", 0) > 0)
    return true;
  const auto silent = static_cast<std::int64_t>(fake::number("silent_window", 0));
  if (s.kinds.count(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) == 0) return false;
  if (s.asked_for_kernels != silent) return true;
  std::size_t size = 0, most = 0;
  if (!s.kept_back) s.request(&s.kept_back, &size, &most);
  return false;
}

}  // namespace

extern "C" {

/// A call of the program: callbacks of whoever asked for them. As the real one does, it sees the
/// end of a call only while the call's callback is on: a thread that was inside when it was
/// switched off stays inside, and its later calls get the number of that one.
std::uint32_t fake_call(int leaves, std::uint32_t correlation, int graph) {
  thread_local int inside = 0;
  thread_local bool begin_was_seen = false;
  thread_local std::uint32_t number = 0;
  auto& s = state();
  const std::uint32_t id =
      graph ? CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch : CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel;
  CUpti_CallbackFunc function = nullptr;
  {
    std::lock_guard lock(s.mutex);
    if (!leaves) {
      if (inside == 0) number = ++s.correlation;
      correlation = number;
      s.data[correlation % kCallsAtOnce] = 0;
    }
    if (s.subscribed && s.callbacks.count(id)) function = s.function;
  }
  if (!leaves) begin_was_seen = function != nullptr;
  if (!function) return correlation;
  if (begin_was_seen) inside += leaves ? -1 : 1;
  CUpti_CallbackData data{};
  data.callbackSite = leaves ? CUPTI_API_EXIT : CUPTI_API_ENTER;
  data.correlationId = correlation;
  data.correlationData = &s.data[correlation % kCallsAtOnce];
  function(nullptr, CUPTI_CB_DOMAIN_DRIVER_API, id, &data);
  return correlation;
}

/// As the real CUPTI 13.0: a graph with a conditional node must be made ready while graphs are
/// traced as wholes or kernels are not, or the program ends when CUPTI's room for its kernels is
/// full. Where another graph was ready before graphs became wholes, its next launch crashes.
void fake_graph_is_ready(int conditional) {
  auto& s = state();
  CUpti_CallbackFunc function = nullptr;
  bool handles = false;
  {
    std::lock_guard lock(s.mutex);
    if (s.subscribed && s.graphs) function = s.function;
    handles = s.subscribed && s.callbacks.count(kHandle);
  }
  CUpti_CallbackData call{};
  call.callbackSite = CUPTI_API_ENTER;
  if (conditional && handles) function(nullptr, CUPTI_CB_DOMAIN_DRIVER_API, kHandle, &call);
  if (function)
    function(nullptr, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATE_STARTING,
             nullptr);
  std::lock_guard lock(s.mutex);
  const bool wholes = s.kinds.count(CUPTI_ACTIVITY_KIND_GRAPH_TRACE) > 0;
  s.node_by_node |= !wholes;
  s.conditional |= conditional && !wholes;
}

void fake_graph_node() {
  auto& s = state();
  tell_of_node(s, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, kFirstNode + s.captured++, 0);
}

/// Copies the nodes that were captured since the last time.
void fake_graph_copies(std::uint32_t graph) {
  auto& s = state();
  for (std::uint64_t node = 0; node < s.captured; ++node)
    tell_of_node(s, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, std::uint64_t{graph} << 32 | node,
                 kFirstNode + node);
}

/// Takes what the fake driver ran.
void fake_ran(const FakeRun* run) {
  auto& s = state();
  constexpr std::uint32_t kConditional = 13;
  std::lock_guard lock(s.mutex);
  if (run->graph == kConditional && s.conditional &&
      s.kinds.count(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) && --s.conditional_room < 0) {
    std::fputs("an illegal memory access was encountered\n", stderr);
    _exit(99);
  }
  if (!s.request) return;
  ++s.records;
  const auto timeless = static_cast<std::int64_t>(fake::number("timeless", 0));
  const bool no_time = timeless > 0 && s.records % timeless == 0;
  const std::uint64_t start = no_time ? 0 : on_clock(s, run->start);
  const std::uint64_t end = no_time ? 0 : start + static_cast<std::uint64_t>(run->end - run->start);
  if (run->graph != 0 && s.kinds.count(CUPTI_ACTIVITY_KIND_GRAPH_TRACE)) {
    auto whole = record_of<CUpti_ActivityGraphTrace2>(CUPTI_ACTIVITY_KIND_GRAPH_TRACE, *run);
    whole.start = start;
    whole.end = end;
    whole.graphId = run->graph;
    if ((run->node & 0xFFFFFFFFu) == 0) put(s, whole);
    return;
  }
  if (run->bytes == 0 && records_kernel(s, *run)) {
    const auto behind = static_cast<std::int64_t>(fake::number("behind_ms", 0)) * 1'000'000;
    auto k = record_of<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, *run);
    k.start = start;
    k.end = end;
    k.graphId = run->graph;
    k.graphNodeId = run->node;
    k.gridX = static_cast<std::int32_t>(run->grid);
    k.gridY = k.gridZ = 1;
    k.blockX = 128;
    k.blockY = k.blockZ = 1;
    k.registersPerThread = 32;
    k.name = run->name;
    if (behind > 0) {
      k.start = static_cast<std::uint64_t>(run->start + behind);
      k.end = static_cast<std::uint64_t>(run->end + behind);
      s.queue.push_back(k);
      take_from_queue(s, false);
    } else {
      put(s, k);
    }
  }
  if (run->bytes > 0 && s.kinds.count(CUPTI_ACTIVITY_KIND_MEMCPY)) {
    s.copied = true;
    auto m = record_of<CUpti_ActivityMemcpy6>(CUPTI_ACTIVITY_KIND_MEMCPY, *run);
    m.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
    m.bytes = run->bytes;
    m.start = start;
    m.end = end;
    put(s, m);
  }
}

/// True if the buffer in hand holds something that has not run.
bool unfinished(const State& s) {
  if (fake::number("copies_run", 0) > 0 && s.kinds.count(CUPTI_ACTIVITY_KIND_MEMCPY)) return true;
  return fake::number("whole_buffers", 0) > 0 && !s.queue.empty();
}

/// All that a call launched was told: the time for a flush of CUPTI's own.
void fake_called() {
  auto& s = state();
  std::lock_guard lock(s.mutex);
  if (!s.request) return;
  if (s.flush_every > 0 && !unfinished(s) && fake::now_ns() - s.flushed >= s.flush_every) {
    s.flushed = fake::now_ns();
    hand_over(s);
  }
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc function, void*) {
  note_child();
  auto& s = state();
  if (s.subscribed || fake::number("subscriber", 0) > 0)
    return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  std::lock_guard lock(s.mutex);
  s.subscribed = true;
  s.function = function;
  *subscriber = reinterpret_cast<CUpti_SubscriberHandle>(&s);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiEnableCallback(std::uint32_t enable, CUpti_SubscriberHandle,
                                CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  auto& s = state();
  std::lock_guard lock(s.mutex);
  if (domain == CUPTI_CB_DOMAIN_RESOURCE && id == CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATE_STARTING)
    s.graphs = enable != 0;
  if (domain == CUPTI_CB_DOMAIN_RESOURCE && id == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED)
    s.nodes = enable != 0;
  if (domain != CUPTI_CB_DOMAIN_DRIVER_API) return CUPTI_SUCCESS;
  if (enable)
    s.callbacks.insert(id);
  else
    s.callbacks.erase(id);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetGraphNodeId(CUgraphNode node, std::uint64_t* number) {
  *number = reinterpret_cast<std::uint64_t>(node);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle) {
  note_child();
  state().subscribed = state().graphs = state().nodes = false;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  std::lock_guard lock(state().mutex);
  if (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) ++state().asked_for_kernels;
  if (kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE && state().node_by_node) std::raise(SIGSEGV);
  state().kinds.insert(kind);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  note_child();
  auto& s = state();
  std::lock_guard lock(s.mutex);
  if (s.kinds.erase(kind) == 0) return CUPTI_SUCCESS;
  const bool copies = kind == CUPTI_ACTIVITY_KIND_MEMCPY && s.copied;
  const auto deadly = fake::number("disabling", 0);
  s.doomed |= (deadly == 1 && copies) || deadly == 2;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete) {
  std::lock_guard lock(state().mutex);
  state().request = request;
  state().complete = complete;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc clock) {
  std::lock_guard lock(state().mutex);
  state().clock = clock;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityFlushPeriod(std::uint32_t ms) {
  std::lock_guard lock(state().mutex);
  state().flush_every = std::int64_t{ms} * 1'000'000;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityFlushAll(std::uint32_t forced) {
  note_child();
  std::lock_guard lock(state().mutex);
  take_from_queue(state(), forced != 0);
  if (forced != 0 || !unfinished(state())) hand_over(state());
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid,
                                       CUpti_Activity** record) {
  auto length = [](const std::uint8_t* at) -> std::size_t {
    switch (reinterpret_cast<const CUpti_Activity*>(at)->kind) {
      case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        return sizeof(CUpti_ActivityKernel10);
      case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
        return sizeof(CUpti_ActivityGraphTrace2);
      case CUPTI_ACTIVITY_KIND_MEMCPY:
        return sizeof(CUpti_ActivityMemcpy6);
      default:
        return sizeof(CUpti_ActivityAPI);
    }
  };
  std::uint8_t* next = *record ? reinterpret_cast<std::uint8_t*>(*record) +
                                     length(reinterpret_cast<std::uint8_t*>(*record))
                               : buffer;
  if (next >= buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, std::uint32_t, std::size_t* dropped) {
  auto& s = state();
  *dropped =
      std::exchange(s.unwritten, 0) + (std::exchange(s.told_dropped, true)
                                           ? 0
                                           : static_cast<std::size_t>(fake::number("dropped", 0)));
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, std::uint32_t id, const char** name) {
  *name = "cuLaunchKernel";
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API && id == CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch)
    *name = "cuGraphLaunch";
  return CUPTI_SUCCESS;
}

}  // extern "C"
