// The format that the library inside the recorded program writes and the recorder reads: one
// append-only file a process, PID.rec, of records that each begin with a Head, and a page of counts
// beside it, PID.count. Plain structs of one machine and one
// build; a file cut anywhere loses its last record.
#pragma once

#include <fcntl.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace gf::inject {

enum class Type : std::uint32_t {
  hello,
  text,
  device,
  kernel,
  memcpy,
  memset,
  api,
  range,
  message,
  dropped,
  window,
  loss,
  node
};

/// The kinds of loss that the library knows of.
enum class LossKind : std::uint32_t {
  names,         // ranges without a name
  taken,         // launches whose kernels CUPTI gave to another profiler in the program
  memory,        // records that found no memory in the program
  disk,          // records for which the disk, or a limit on the size of files, had no room
  bound,         // the process may write no more: later kernels are not recorded
  silent,        // launches of a window in which CUPTI recorded no kernel
  unfinished,    // kernels and copies that were launched in a window and ran after it
  kernel_names,  // kernels and calls without a name
};

struct Head {
  Type type;
  std::uint32_t bytes;  // of what follows
};

struct Hello {
  std::uint32_t version;  // of this layout
  std::int32_t pid;
};
inline constexpr std::uint32_t kVersion = 8;

struct TextHead {  // the text follows
  std::uint32_t id;
  std::uint32_t unused;
};
struct Device {
  std::uint32_t ordinal;  // CUDA's number inside the program
  std::uint32_t unused;
  unsigned char uuid[16];
};
struct Kernel {
  std::int64_t start, end;  // host clock, ns since 1970
  std::uint64_t graph_node;
  std::uint32_t device, context, stream, correlation, name, graph;
  std::int32_t grid[3], block[3];
  std::uint32_t registers;
  std::uint32_t shared_bytes;
};
struct Memory {  // memcpy, memset
  std::int64_t start, end;
  std::uint64_t bytes, graph_node;
  std::uint32_t device, context, stream, correlation, graph, copy_kind;  // CUPTI's kind of copy
};
struct Api {
  std::int64_t start, end;
  std::uint32_t thread, correlation, name, launch;  // launch: 1 where it launches kernels
};
struct Range {  // NVTX; start == end: a mark
  std::int64_t start, end;
  std::uint32_t thread, name;
};
struct Window {             // of recording
  std::int64_t start, end;  // end 0: it begins
  std::uint32_t request;    // the recorder's (Control), 0: the library's own schedule
  std::uint32_t last;       // 1: the process ended with it, so that nothing of it can come later
};
struct Node {                    // of a CUDA graph
  std::uint64_t node, original;  // original 0: a call made it
  std::uint32_t correlation;     // of that call
  std::uint32_t unused;
};
struct Dropped {
  std::uint64_t records;
};
struct Loss {
  std::uint32_t kind, unused;  // LossKind
  std::uint64_t count;
};

/// The number of records that a process's library was given, in PID.count beside PID.rec: a page
/// that is mapped, so that it is right however the process ends, and written in place, which needs
/// no room on a full disk. What lacks of them in PID.rec is lost.
struct Ledger {
  std::uint32_t version;
  std::uint32_t closed;  // 1: the library has written all that it could, and goes on without us
  std::uint64_t kernels, launches, records;  // records: kernels, copies, sets, calls and ranges
};
inline constexpr std::size_t kLedgerBytes = 4096;
inline constexpr const char* kRecordsSuffix = ".rec";
inline constexpr const char* kLedgerSuffix = ".count";
/// The beginning of the name of the recorder's folder; the one that the libraries write into lies
/// in it, under a name that nobody else can know.
inline constexpr const char* kFolderName = ".gpufathom-";

/// True if a record of this type counts in the ledger.
constexpr bool in_ledger(Type type) {
  switch (type) {
    case Type::kernel:
    case Type::memcpy:
    case Type::memset:
    case Type::api:
    case Type::range:
      return true;
    default:
      return false;
  }
}

/// A page that both sides map: the recorder speaks, the library listens. It needs no descriptor and
/// no path once it is mapped.
struct Control {
  std::uint32_t version;
  std::atomic<std::uint32_t> windows;    // asked for so far: one more means open one now
  std::atomic<std::uint64_t> heartbeat;  // moves on while the recorder lives
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
inline constexpr const char* kControlFile = "control";  // in kDirectory

/// Through this a recorder comes to a program that runs already (gpufathom run): the library makes
/// it in anonymous memory that is sealed at its size, under the name kDormantName, a recorder finds
/// it among the descriptors of the process, locks it (flock), writes what it wants and moves
/// `asked` on to an odd number. When that moves on again, or the recorder is gone, the library lets
/// go of everything. `served` follows. Both numbers are futexes: nobody runs while nothing is
/// asked.
struct Dormant {
  std::uint32_t version;
  std::int32_t pid;  // in its own namespace: a forked child shows the page of its parent
  std::atomic<std::uint32_t> asked, served;
  std::int64_t clock_offset, window_ms, first_ms, every_ms, delay_ms, steps;
  char directory[4096];
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);
inline constexpr const char* kDormantName = "gpufathom";
inline constexpr int kDormantSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

// The environment of the recorded program.
inline constexpr const char* kDormant =
    "GPUFATHOM_DORMANT";  // not recorded yet; a recorder may ask for it
inline constexpr const char* kDirectory = "GPUFATHOM_INJECT_DIR";  // where PID.rec goes
inline constexpr const char* kClockOffset =
    "GPUFATHOM_CLOCK_OFFSET";                                  // ns to add to CLOCK_MONOTONIC
inline constexpr const char* kWindow = "GPUFATHOM_WINDOW_MS";  // length of a window, 0: no end
inline constexpr const char* kFirst =
    "GPUFATHOM_FIRST_MS";  // length of the first window, where the recorder asks for the others
inline constexpr const char* kEvery =
    "GPUFATHOM_EVERY_MS";  // from one window's start to the next, 0: one window
inline constexpr const char* kDelay = "GPUFATHOM_DELAY_MS";  // before the first window
inline constexpr const char* kSteps =
    "GPUFATHOM_STEPS";  // a window ends after so many steps, 0: does not
inline constexpr const char* kOwnProfiler =
    "GPUFATHOM_OWN_PROFILER";                                 // 1: between windows CUPTI is free
inline constexpr const char* kMost = "GPUFATHOM_MOST_BYTES";  // what one process may write
inline constexpr const char* kRecorderFile =
    "recorder";  // in kDirectory; the recorder holds it locked while it lives
inline constexpr const char* kStepName = "gpufathom.step";  // NVTX range or mark that makes a step

}  // namespace gf::inject
