// Keeps CUPTI from harming the CUDA graphs of the program.
//
// CUPTI 13.0 gives the kernels of graphs with a conditional node (a loop, a branch) a fixed room of
// 2^20 / 3 records, and the program ends with an illegal memory access once it is full. Such a
// graph runs as it should if graphs are traced as wholes before it is instantiated, but the next
// launch of any graph that was instantiated before crashes; or if kernels are no longer traced
// (docs/results/conditional_graphs_h100.json). So the program's first call for the handle of a
// conditional node is seen, wherever it comes, and graphs that are ready to launch are counted.
// A launch into a stream that is captured makes a node of a graph, and no kernel. Which node, and
// which copies of it run, is told, so that kernels of a graph find the call that was captured.
// The page of counts that outlives the process (stream.h, Ledger). With the library's lock held.
#pragma once

#include <cupti.h>

#include <string>

#include "collect/inject/stream.h"

namespace gf::inject {

/// CUPTI shows graphs as they become ready and go, and calls for handles of conditional nodes.
void watch_graphs(CUpti_SubscriberHandle subscriber);
/// The subscriber's part, on a thread of the program, inside its call; false: not one of these.
bool see_graphs(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data);

/// Empty, or why tracing kernels from now on would end the program.
std::string why_no_kernels();

/// Tells the recorder, once, what conditional nodes have hidden.
void tell_of_graphs();
void forget_told_graphs();

class LedgerPage {
 public:
  /// Counts from now on in this file, what was counted before included; the descriptor is closed at
  /// once. Without room for a page, and on file systems where a write into a mapping may find no
  /// room and end the program, counts stay in the process.
  void open(const std::string& path);
  /// Lets go of the file. Counts begin anew.
  void close();
  Ledger* operator->() { return at_; }

 private:
  Ledger own_{};
  Ledger* at_ = &own_;
};

}  // namespace gf::inject
