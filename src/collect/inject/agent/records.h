// CUPTI's activity records, as the recorder reads them.
#pragma once

#include <cupti.h>

#include <cstdint>

namespace gf::inject {

/// Takes CUPTI's buffers from now on; the answer is CUPTI's.
CUptiResult register_buffers();

/// Records of each sort since the window began.
struct Seen {
  std::int64_t kernels, memory;
  std::int64_t requested;   // buffers that CUPTI asked for: none where another takes its records
  std::int64_t unfinished;  // launched in the window, but run only after its end
  std::int64_t past;        // launched after its end
  std::int64_t held;        // buffers that CUPTI has not handed over
};
Seen seen();
void forget_seen();

/// Work from now on belongs to a window; work from `end` on does not. CUPTI also hands
/// over what ran between windows.
void window_begins(std::int64_t start);
void window_ends(std::int64_t end);
void window_is_over();

/// For a recorder that has just come.
void forget_devices();
/// Records that CUPTI dropped before a window do not count as lost.
void forget_dropped();
/// CUPTI's texts live as long as its subscriber.
void forget_names();
/// Buffers that CUPTI gives out from now on are not freed: it may still write into them.
void keep_buffers();

/// The number of a call's name without its version.
std::uint32_t call_name(CUpti_CallbackDomain domain, CUpti_CallbackId id);

}  // namespace gf::inject
