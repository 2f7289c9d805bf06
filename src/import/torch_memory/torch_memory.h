// PyTorch's memory snapshots: the file of torch.cuda.memory._dump_snapshot().
#pragma once

#include <string>
#include <string_view>

#include "core/error.h"
#include "import/importer.h"

namespace gf::torch_memory {

int sniff(std::string_view path, std::string_view head);
/// The history of allocations as memory_events, and the blocks in use that it does not explain as
/// taken before it began; with stacks, each allocation has a span of host_ops whose name is the
/// stack and whose external_id is the event's row.
Result<Capture> load(const std::string& path, const ImportOptions& options);

}  // namespace gf::torch_memory
