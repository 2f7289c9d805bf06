// Whether CUPTI traces the kernels of CUDA graphs one by one, or each graph as a whole.
//
// A graph with a conditional node (a loop, a branch) must be traced as a whole: CUPTI 13.0 gives
// its kernels a fixed room of 2^20 / 3 records, and the program ends with an illegal memory access
// once they are full. Graphs must be wholes before such a graph is instantiated; switched over
// later, the next launch crashes (docs/results/conditional_graphs_h200.json). So every node that
// the program makes is looked at, from the start of CUDA to the end.
// The page of counts that outlives the process (stream.h, Ledger). With the library's lock held.
#pragma once

#include <cupti.h>

#include <string>

#include "collect/inject/stream.h"

namespace gf::inject {

/// CUPTI shows the nodes that the program makes from now on.
void watch_graphs(CUpti_SubscriberHandle subscriber);
/// The subscriber's part, on a thread of the program, inside its call.
void see_graph_node(CUpti_CallbackId id, const void* data);

/// For good: going back crashes as well.
bool trace_whole_graphs();
bool graphs_are_whole();

/// Tells the recorder, once, where a conditional node has made graphs wholes.
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
