// Functions that each format's folder gives the registry: whether a file is of its format, and how
// it is read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

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

/// Reports in its own format (.nsys-rep): where nsys is installed it exports them.
int sniff_report(std::string_view path, std::string_view head);
Result<Capture> load_report(const std::string& path, const ImportOptions& options);

/// Exports as Parquet, Arrow or HDF5, which Python's packages read: a file, or a folder of a file
/// for each table.
int sniff_tables(std::string_view path, std::string_view head);
bool is_folder_of_tables(const std::string& folder);
Result<Capture> load_tables(const std::string& path, const ImportOptions& options);

/// Exports as JSON lines.
int sniff_json(std::string_view path, std::string_view head);
Result<Capture> load_json(const std::string& path, const ImportOptions& options);

}  // namespace gf::nsys

// Databases of nvprof and the Visual Profiler (docs/formats/other-tools.md, as all that follows of
// other makers' tools).
namespace gf::nvprof {

int sniff(std::string_view path, std::string_view head);
Result<Capture> load(const std::string& path, const ImportOptions& options);

}  // namespace gf::nvprof

// Logs of cluster monitors: the text of exporters of GPU metrics (dcgm-exporter and
// others), answers of Prometheus, system metrics of Weights & Biases.
namespace gf::fleet {

int sniff_prometheus(std::string_view path, std::string_view head);
Result<Capture> load_prometheus(const std::string& path, const ImportOptions& options);
/// Files of a folder that are scrapes of GPU metrics.
std::vector<std::string> find_scrapes(const std::string& folder);
Result<Capture> load_scrapes(const std::vector<std::string>& files, const std::string& path,
                             const ImportOptions& options);

int sniff_wandb(std::string_view path, std::string_view head);
Result<Capture> load_wandb(const std::string& path, const ImportOptions& options);

}  // namespace gf::fleet

// AMD's rocprofv3: CSV, one file for each kind of row; JSON; and rocpd, its database.
namespace gf::rocprof {

int sniff_csv(std::string_view path, std::string_view head);
/// One process: the file that is named, and those beside it whose names begin alike.
Result<Capture> load_csv(const std::string& path, const ImportOptions& options);
/// The prefixes of each process's file names below an output folder.
std::vector<std::string> find_processes(const std::string& folder);
Result<Capture> load_processes(const std::vector<std::string>& beginnings, const std::string& path,
                               const ImportOptions& options);

int sniff_json(std::string_view path, std::string_view head);
Result<Capture> load_json(const std::string& path, const ImportOptions& options);

int sniff_rocpd(std::string_view path, std::string_view head);
Result<Capture> load_rocpd(const std::string& path, const ImportOptions& options);

}  // namespace gf::rocprof

// Databases of AMD's rocmProfileData.
namespace gf::rpd {

int sniff(std::string_view path, std::string_view head);
Result<Capture> load(const std::string& path, const ImportOptions& options);

}  // namespace gf::rpd

// Tables of all GPU work: nvprof --print-gpu-trace --csv, nsys stats --report cuda_gpu_trace.
namespace gf::gpu_trace_csv {

int sniff(std::string_view path, std::string_view head);
Result<Capture> load(const std::string& path, const ImportOptions& options);

}  // namespace gf::gpu_trace_csv

// Intel's unitrace.
namespace gf::unitrace {

int sniff(std::string_view path, std::string_view head);
Result<Capture> load(const std::string& path, const ImportOptions& options);

}  // namespace gf::unitrace

// Profiles of Triton's Proton: kernels (data="trace"), and its tree of sums, which is the
// default.
namespace gf::proton {

int sniff(std::string_view path, std::string_view head);
Result<Capture> load(const std::string& path, const ImportOptions& options);

int sniff_tree(std::string_view path, std::string_view head);
Result<Capture> load_tree(const std::string& path, const ImportOptions& options);

}  // namespace gf::proton

// Times of queries by trtexec (TensorRT), and the sums of its layers.
namespace gf::trtexec {

int sniff(std::string_view path, std::string_view head);
Result<Capture> load(const std::string& path, const ImportOptions& options);

int sniff_profile(std::string_view path, std::string_view head);
Result<Capture> load_profile(const std::string& path, const ImportOptions& options);

}  // namespace gf::trtexec

// Profiles of ONNX Runtime.
namespace gf::onnxruntime {

int sniff(std::string_view path, std::string_view head);
Result<Capture> load(const std::string& path, const ImportOptions& options);

}  // namespace gf::onnxruntime

// Perfetto traces with GPU work, as stages or as slices.
namespace gf::perfetto {

int sniff(std::string_view path, std::string_view head);
Result<Capture> load(const std::string& path, const ImportOptions& options);

}  // namespace gf::perfetto

// Ascend NPUs, by torch_npu: the table of kernels, and the trace, which has the host's calls, too.
namespace gf::ascend {

int sniff(std::string_view path, std::string_view head);
Result<Capture> load(const std::string& path, const ImportOptions& options);

int sniff_trace(std::string_view path, std::string_view head);
Result<Capture> load_trace(const std::string& path, const ImportOptions& options);

}  // namespace gf::ascend

// Counters of kernels by AMD's rocprof-compute: pmc_perf.csv.
namespace gf::rocprof_compute {

int sniff(std::string_view path, std::string_view head);
Result<Capture> load(const std::string& path, const ImportOptions& options);

}  // namespace gf::rocprof_compute

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
