#include "analyze/host_roles.h"

#include <algorithm>

#include "analyze/steps/steps.h"

namespace gf {

namespace {

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

template <std::size_t N>
bool has_any(std::string_view text, const std::string_view (&parts)[N]) {
  return std::any_of(std::begin(parts), std::end(parts),
                     [&](std::string_view p) { return has(text, p); });
}
template <std::size_t N>
bool starts_with_any(std::string_view text, const std::string_view (&parts)[N]) {
  return std::any_of(std::begin(parts), std::end(parts),
                     [&](std::string_view p) { return text.starts_with(p); });
}

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
constexpr std::string_view kWaitingOps[] = {"aten::item", "aten::_local_scalar_dense",
                                            "aten::is_nonzero"};
// JAX's own Python frames, as its tracer names them: "$api.py:2850 try_to_block".
constexpr std::string_view kBlockingParts[] = {"block_until_ready", "try_to_block"};

}  // namespace

std::uint8_t host_role(std::string_view name) {
  std::uint8_t role = kPlain;
  if (has_any(name, kInputParts)) role |= kInput;
  if (starts_with_any(name, kCommunicationStarts)) role |= kCommunication;
  if (std::find(std::begin(kWaitingOps), std::end(kWaitingOps), name) != std::end(kWaitingOps))
    role |= kWaits;
  if (has_any(name, kBlockingParts)) role |= kWaits;
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

bool is_stream_wait(std::string_view api) {
  return has(api, "StreamWaitEvent") || has(api, "StreamWaitValue");
}

NameRoles::NameRoles(const Capture& capture) : host_(capture.strings.size()) {
  for (std::uint32_t i = 0; i < host_.size(); ++i) host_[i] = host_role(capture.text(Text{i}));
}

}  // namespace gf
