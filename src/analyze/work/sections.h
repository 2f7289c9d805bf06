// The sections of the answer about work, each from the work of the kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/result.h"
#include "analyze/utilization/kernel_levels.h"
#include "analyze/work/ceilings.h"
#include "analyze/work/kernel_work.h"
#include "analyze/work/result.h"
#include "model/capture.h"

namespace gf {
class HostNesting;
}

namespace gf::work {

/// The ceilings that points are compared with.
struct Roof {
  Roof(const Context& context, const std::vector<Ceiling>& ceilings);
  const std::vector<Ceiling>& ceilings;
  double stated_memory = 0;  // bytes a second by the data sheet; 0: not known
  double l2_bytes = 0;       // the same
  double clock_step = 0;     // seconds by which a kernel may have run longer than recorded
};

/// The row of kernels that run under no operator with recorded shapes.
inline constexpr std::string_view kWithoutShapes = "(no shapes recorded)";

/// The table by shape: a row for each operator, set of inputs, module and phase, in order of time.
/// They sum to the exclusive time of all kernels.
std::vector<OperatorWork> operator_table(const Context& context, const KernelWorks& works,
                                         const Roof& roof, const HostNesting& nesting);
/// The first `rows` of them (0: all), and one row for the rest.
std::vector<OperatorWork> longest_operators(std::vector<OperatorWork> table, std::size_t rows);

/// Sequences of kernels that one could replace, the largest bound of the gain first.
std::vector<KernelSequence> kernel_sequences(const Context& context, const KernelWorks& works,
                                             const Roof& roof);

/// "4096x768 * 768x3072"
std::string shapes_text(const Call& call);

// Kernels, operators and layers under the roofline, and copies against their link.

/// A row of the table by shape under the roofline, without a name. Its `no_share` says so where its
/// products take fewer operations than the model's.
RoofPoint roof_point(const OperatorWork& row, const Roof& roof);

/// Counters come before the model, each for what it knows: operations of the tensor cores, bytes of
/// device memory. At most `rows` points of each scope, those with most time; 0: all.
std::vector<RoofPoint> roofline(const Context& context, const KernelWorks& works,
                                const std::vector<OperatorWork>& operators, const Roof& roof,
                                std::size_t rows);

/// Copies of the window by direction.
std::vector<TransferRate> transfer_rates(const Context& context,
                                         const std::vector<Ceiling>& ceilings);

// The waterfall's stalled time by what the warps waited for.

/// From the warp states of a counter report (Nsight Compute's WarpStateStats, or its samples of the
/// program counter). Empty without stalled time. The reasons sum to stalled_ns; `unknown` is of
/// kernels without states.
StallUse stall_use(const Context& context, const KernelLevels& levels, const Analysis& analysis);

// The number of items of a step, by the sizes of what it computes: the one place that knows, for
// `work`, `analyze`, `energy` and `compare`.

struct StepItems {
  std::int64_t items = 0, tokens = 0;  // tokens 0: not known
  std::string from;                    // the operation and sizes that tell
  std::string_view kind;  // what an item is by it: sequences, bags, images, or rows of a product
  std::string told_by;    // kind, operation and its number of sizes: other rows are other items
};

/// The items of a step if all steps of the window agree; without steps, those of most operations.
std::optional<StepItems> items_of_window(const Capture& capture, const WindowInfo& window);

// Items and tokens per second.

/// Items of a step are what --batch says, or else the leading size of the first layer's input:
/// indices of an embedding (then each index is a token), images of a convolution, the input of
/// a linear layer. A guess from shapes is only made when every step that shows one shows the same.
Throughput throughput(const Context& context, const Analysis& analysis, const KernelWorks& works);

// The memory of each device over time, and what held it at the peak.

/// From the framework's allocator (events of a profile, or a snapshot), else from the board's own
/// readings. `throughput` tells the items of a step, for the batch that would fit.
std::vector<DeviceMemory> memory_use(const Context& context, const KernelWorks& works,
                                     const Throughput& throughput);

/// The most that was held: by the framework, else of the board, else by tensors.
std::optional<std::int64_t> peak_bytes(const DeviceMemory& memory);

// Account of each device's peak x time: work, and every loss with its owner.

/// One account for each of context.devices, in order; none for devices whose peak is not known.
/// Parts sum to the device's window exactly, and the owners of a part to the part. Needs the idle
/// causes and waterfalls of analysis.devices.
std::vector<WorkAccount> work_accounts(const Context& context, const KernelLevels& levels,
                                       const Analysis& analysis, const KernelWorks& works);

/// The split of one kernel's time, as shares that sum to 1 over the parts.
struct KernelShares {
  double of[kWorkParts] = {};
  double& at(WorkPart part) { return of[static_cast<std::size_t>(part)]; }
  double at(WorkPart part) const { return of[static_cast<std::size_t>(part)]; }
};

/// Input of a kernel's split.
struct KernelFacts {
  double seconds = 0;     // exclusive time
  double flops = 0;       // of products
  double recomputed = 0;  // of these
  double covered = 0;     // by its tiles
  double peak = 0;        // operations a second, of the account
  double own_peak = 0;    // of the kernel's data type
  double clock = 1;       // SM clock over the one of the peak, at most 1
  bool multiplies = false;
  bool known = false;  // its operation's work is known
  bool communicates = false;
  double sm_active = NAN, issue_active = NAN, tensor_active = NAN, tensor_issue = NAN;
  double blocks_per_sm = NAN;  // where no counter tells of SMs without work
};
KernelShares split_work(const KernelFacts& kernel);

}  // namespace gf::work
