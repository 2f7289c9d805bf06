// What each format's folder gives the registry: whether a file is of its format, and how it is
// read.
#pragma once

#include <string>
#include <string_view>

#include "core/error.h"
#include "import/importer.h"

// gpufathom's own capture file (.gpf), read as it is. The format itself is in model/file.h.
namespace gf::capture_file {

int sniff(std::string_view path, std::string_view head);
Result<Capture> load(const std::string& path, const ImportOptions& options);

}  // namespace gf::capture_file

// PyTorch profiler traces: Kineto's JSON in all its variants. docs/formats/kineto.md has the rules.
namespace gf::kineto {

int sniff(std::string_view path, std::string_view head);
Result<Capture> load(const std::string& path, const ImportOptions& options);

}  // namespace gf::kineto

// SQLite exports of Nsight Systems (docs/formats/nsight-systems.md).
namespace gf::nsys {

int sniff(std::string_view path, std::string_view head);
Result<Capture> load(const std::string& path, const ImportOptions& options);

}  // namespace gf::nsys

// trace.json.gz, which the TensorFlow and JAX profilers derive from their xplane file.
// docs/formats/xplane.md has the rules.
namespace gf::tf_trace_json {

int sniff(std::string_view path, std::string_view head);
/// Reads the xplane file beside it instead when there is one: it has what this file leaves out, and
/// no event cap.
Result<Capture> load(const std::string& path, const ImportOptions& options);
/// Reads the JSON itself. `text` must be followed by kPadding readable bytes.
Result<Capture> load_text(std::string_view text, const std::string& path,
                          const ImportOptions& options);
inline constexpr std::size_t kPadding = 64;

}  // namespace gf::tf_trace_json

// PyTorch's memory snapshots: the file of torch.cuda.memory._dump_snapshot().
namespace gf::torch_memory {

int sniff(std::string_view path, std::string_view head);
/// The history of allocations as memory_events, and the blocks in use that it does not explain as
/// taken before it began; with stacks, each allocation has a span of host_ops whose name is the
/// stack and whose external_id is the event's row.
Result<Capture> load(const std::string& path, const ImportOptions& options);

}  // namespace gf::torch_memory

// Nsight Compute reports: CSV exports of the raw and the details page, and the binary .ncu-rep
// (docs/formats/nsight-compute.md).
namespace gf::ncu {

int sniff_csv(std::string_view path, std::string_view head);
Result<Capture> load_csv(const std::string& path, const ImportOptions& options);
/// The CSV text itself, after decompression. `path` is for messages.
Result<Capture> parse_csv(std::string_view content, const std::string& path);

int sniff_rep(std::string_view path, std::string_view head);
Result<Capture> load_rep(const std::string& path, const ImportOptions& options);

}  // namespace gf::ncu

// Logs of power, clocks and utilization that people keep already (docs/formats/telemetry.md): CSV
// of nvidia-smi (--query-gpu=... --format=csv[,nounits]), of `gpufathom monitor` and of NVML
// readings, and the text of `nvidia-smi dmon` and `dcgmi dmon`.
namespace gf::telemetry {

int sniff_csv(std::string_view path, std::string_view head);
Result<Capture> load_csv(const std::string& path, const ImportOptions& options);
/// The text itself; `path` is for messages.
Result<Capture> parse_csv(std::string_view content, const std::string& path);

int sniff_smi_dmon(std::string_view path, std::string_view head);
Result<Capture> load_smi_dmon(const std::string& path, const ImportOptions& options);
Result<Capture> parse_smi_dmon(std::string_view content, const std::string& path);

int sniff_dmon(std::string_view path, std::string_view head);
Result<Capture> load_dmon(const std::string& path, const ImportOptions& options);
Result<Capture> parse_dmon(std::string_view content, const std::string& path);

}  // namespace gf::telemetry
