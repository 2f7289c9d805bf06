#include "analyze/host_threads.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "analyze/steps/steps.h"
#include "core/order.h"
#include "core/text.h"

namespace gf {

namespace {

/// Counting sort by thread, then by time inside each thread. Rows without a known thread are left
/// out.
template <class Table>
void order(const Table& table, std::size_t threads, std::vector<std::uint32_t>& rows,
           std::vector<std::size_t>& begin) {
  begin.assign(threads + 1, 0);
  const auto count = static_cast<std::uint32_t>(table.size());
  for (std::uint32_t i = 0; i < count; ++i)
    if (table.thread[i] < threads) ++begin[table.thread[i] + 1];
  for (std::size_t thread = 0; thread < threads; ++thread) begin[thread + 1] += begin[thread];
  rows.resize(begin.back());
  std::vector<std::size_t> at(begin.begin(), begin.end() - 1);
  for (std::uint32_t i = 0; i < count; ++i)
    if (table.thread[i] < threads) rows[at[table.thread[i]]++] = i;
  auto before = [&](std::uint32_t left, std::uint32_t right) {
    if (table.start_ns[left] != table.start_ns[right])
      return table.start_ns[left] < table.start_ns[right];
    if (table.duration_ns[left] != table.duration_ns[right])
      return table.duration_ns[left] > table.duration_ns[right];
    return left < right;
  };
  for (std::size_t thread = 0; thread < threads; ++thread) {
    const auto first = rows.begin() + static_cast<std::ptrdiff_t>(begin[thread]),
               last = rows.begin() + static_cast<std::ptrdiff_t>(begin[thread + 1]);
    sort_nearly_ordered(first, last, before);
  }
}

}  // namespace

HostThreads::HostThreads(const Capture& capture) {
  order(capture.host_ops, capture.threads.size(), ops_, op_begin_);
  order(capture.api_calls, capture.threads.size(), calls_, call_begin_);
}

namespace {

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

template <std::size_t N>
bool has_any(std::string_view text, const std::string_view (&parts)[N]) {
  return std::any_of(std::begin(parts), std::end(parts),
                     [&](std::string_view path) { return has(text, path); });
}
template <std::size_t N>
bool starts_with_any(std::string_view text, const std::string_view (&parts)[N]) {
  return std::any_of(std::begin(parts), std::end(parts),
                     [&](std::string_view path) { return text.starts_with(path); });
}

/// A text in which many parts are looked for.
struct Searched {
  explicit Searched(std::string_view searched) : text(searched), pairs(searched) {}
  template <std::size_t N>
  bool has_any(const std::string_view (&parts)[N]) const {
    return std::any_of(std::begin(parts), std::end(parts), [&](std::string_view part) {
      return pairs.may_hold(part) && has(text, part);
    });
  }
  std::string_view text;
  LetterPairs pairs;
};

constexpr std::string_view kInputParts[] = {"DataLoader",      "dataloader.py", "torch/utils/data/",
                                            "IteratorGetNext", "Iterator::",    "tf_data",
                                            "tf.data"};
constexpr std::string_view kCommunicationStarts[] = {"c10d::",
                                                     "_c10d_functional::",
                                                     "nccl:",
                                                     "gloo:",
                                                     "mpi:",
                                                     "ucc:",
                                                     "record_param_comms",
                                                     "torch.distributed.ddp.reducer",
                                                     "HorovodAllreduce",
                                                     "CollectiveReduce",
                                                     "NcclAllReduce"};
constexpr std::string_view kHostTransports[] = {"gloo:", "mpi:", "ucc:"};
constexpr std::string_view kWaitingOps[] = {"aten::item", "aten::_local_scalar_dense",
                                            "aten::is_nonzero"};
// JAX's own Python frames, as its tracer names them: "$api.py:2850 try_to_block".
constexpr std::string_view kWaitingParts[] = {"block_until_ready", "try_to_block"};

// In lower case: names come from file paths, classes and functions alike.
constexpr std::string_view kOneOffParts[] = {"(dynamo_timed)",
                                             "cudagraphnode.record",
                                             "capture_begin",
                                             "capture_end",
                                             "torch/_dynamo/convert_frame",
                                             "torch/_dynamo/output_graph",
                                             "torch/_dynamo/symbolic_convert",
                                             "torch/_inductor/compile_fx",
                                             "torch/_inductor/graph",
                                             "torch/_inductor/scheduler",
                                             "torch/_inductor/codecache",
                                             "torch/_inductor/async_compile",
                                             "autotune",
                                             "benchmark_all_configs",
                                             "triton/compiler",
                                             "cachingautotuner.bench",
                                             "cachingautotuner.precompile",
                                             "backend_compile",
                                             "compileandload(",
                                             "pjrt_client_compile",
                                             "compiletobackend",
                                             "compilemodule",
                                             "compilefusion",
                                             "compilesinglemodule",
                                             "compiling ir:",
                                             "ptx->cubin",
                                             "hlo transforms:",
                                             "cudagraph.instantiate"};
constexpr std::string_view kRecordingParts[] = {"_record", ": record", "warmup"};
constexpr std::string_view kCapturingParts[] = {"capture", "__enter__", "__exit__"};
// The same files hold what runs a compiled or tuned function every step.
constexpr std::string_view kRepeatedEnds[] = {": run", ": __call__"};

constexpr std::string_view kOneOffCalls[] = {"ModuleLoad",
                                             "LibraryLoad",
                                             "LinkCreate",
                                             "LinkAdd",
                                             "LinkComplete",
                                             "GraphInstantiate",
                                             "GraphUpload",
                                             "CtxCreate",
                                             "StreamBeginCapture",
                                             "StreamEndCapture",
                                             "DevicePrimaryCtx",
                                             "hiprtc",
                                             "nvrtc"};
constexpr std::string_view kInitCalls[] = {"cuInit", "cudaInit", "hipInit"};

/// What stands behind `part` in a text, empty without it.
std::string_view after(std::string_view text, std::string_view part) {
  const auto at = text.find(part);
  if (at == std::string_view::npos) return std::string_view{};
  return text.substr(at + part.size());
}

bool is_one_off(const Searched& lower) {
  const auto text = lower.text;
  for (const auto end : kRepeatedEnds)
    if (text.ends_with(end)) return false;
  return lower.has_any(kOneOffParts) || has_any(after(text, "cudagraph_trees"), kRecordingParts) ||
         has_any(after(text, "torch/cuda/graphs.py"), kCapturingParts);
}

bool waits_for_a_value(std::string_view name, const Searched& lower) {
  return std::find(std::begin(kWaitingOps), std::end(kWaitingOps), name) != std::end(kWaitingOps) ||
         lower.has_any(kWaitingParts);
}

bool is_one_off_call(const Searched& name) {
  return name.has_any(kOneOffCalls) ||
         std::any_of(std::begin(kInitCalls), std::end(kInitCalls),
                     [&](auto end) { return name.text.ends_with(end); });
}

}  // namespace

std::uint8_t host_role(std::string_view name) {
  std::uint8_t role = kPlain;
  const std::string lower_text = lower_case(name);
  const Searched as_is(name), lower(lower_text);
  if (as_is.has_any(kInputParts)) role |= kInput;
  if (starts_with_any(name, kCommunicationStarts)) role |= kCommunication;
  if (starts_with_any(name, kHostTransports)) role |= kHostTransport;
  if (waits_for_a_value(name, lower)) role |= kWaits;
  if (is_one_off(lower)) role |= kOneOff;
  if (is_one_off_call(as_is)) role |= kOneOffCall;
  // record_function marks carry a '#': ProfilerStep#5, Optimizer.step#SGD.step,
  // enumerate(DataLoader)#...
  if (has(name, "#") && !has(name, "::")) role |= kAnnotation;
  if (parse_step_name(name)) role |= kStep | kAnnotation;
  return role;
}

bool is_collective_kernel(std::string_view name) {
  constexpr std::string_view parts[] = {
      "nccl",     "rccl", "NCCL", "msccl", "nvshmem", "cross_device_reduce", "all_reduce_kernel",
      "allreduce"};
  return has_any(name, parts);
}

bool brings_input(std::string_view operation) {
  return operation.empty() || operation == "aten::to" || operation == "aten::copy_" ||
         operation == "aten::_to_copy";
}

bool is_stream_wait(std::string_view api) {
  return has(api, "StreamWaitEvent") || has(api, "StreamWaitValue");
}

NameRoles::NameRoles(const Capture& capture) : host_(capture.strings.size()) {
  std::vector<bool> asked(host_.size());
  auto ask = [&](Text name) {
    const auto id = static_cast<std::uint32_t>(name);
    if (asked[id]) return;
    asked[id] = true;
    host_[id] = host_role(capture.text(name));
  };
  const auto &ops = capture.host_ops.name, &calls = capture.api_calls.name;
  for (std::size_t row = 0; row < ops.size(); ++row) ask(ops[row]);
  for (std::size_t row = 0; row < calls.size(); ++row) ask(calls[row]);
}

}  // namespace gf
