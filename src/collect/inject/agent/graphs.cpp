#include "collect/inject/agent/graphs.h"

#include <atomic>

#include "collect/inject/agent/cupti_functions.h"
#include "collect/inject/agent/writer.h"

namespace gf::inject {

namespace {

constinit std::atomic<bool> whole{false}, conditional{false}, told{false};

}  // namespace

void watch_graphs(CUpti_SubscriberHandle subscriber) {
  cupti.cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE,
                            CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
}

void see_graph_node(CUpti_CallbackId id, const void* data) {
  if (id != CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED) return;
  const auto* node = static_cast<const CUpti_GraphData*>(
      static_cast<const CUpti_ResourceData*>(data)->resourceDescriptor);
  if (!node || node->nodeType != CU_GRAPH_NODE_TYPE_CONDITIONAL) return;
  trace_whole_graphs();
  conditional = true;
}

bool trace_whole_graphs() {
  if (!whole.exchange(true) &&
      cupti.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE) != CUPTI_SUCCESS)
    whole = false;
  return whole;
}

bool graphs_are_whole() { return whole; }

void tell_of_graphs() {
  if (!conditional || told.exchange(true)) return;
  Writer::instance().message(
      "CUDA graphs are recorded as wholes: the program makes some with conditional nodes, whose "
      "kernels CUPTI cannot trace without ending the program");
}

void forget_told_graphs() { told = false; }

}  // namespace gf::inject
