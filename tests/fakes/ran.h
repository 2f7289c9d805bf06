// Messages of the fake CUDA driver to the fake CUPTI, when that is loaded.
#pragma once

#include <cstdint>

struct FakeRun {
  const char* name;     // of a kernel; lives as long as the program
  std::uint64_t bytes;  // of a copy, 0: a kernel
  std::uint32_t device, grid;
  std::uint32_t graph;  // number of the graph whose node it is, 0: none
  std::uint64_t node;
  std::uint32_t correlation;  // of the call that launched it
  std::int64_t start, end;    // host clock
};
/// The program calls a launch function, or leaves it; the number of the call.
extern "C" std::uint32_t fake_call(int leaves, std::uint32_t correlation, int graph);
extern "C" void fake_ran(const FakeRun* run);
/// The program instantiates a graph, with a conditional node or without.
extern "C" void fake_graph_is_ready(int conditional);
/// A call of the program, which it is in, makes a node of a graph.
extern "C" void fake_graph_node();
/// Nodes that calls made are copied into a graph that is ready to launch.
extern "C" void fake_graph_copies(std::uint32_t graph);
extern "C" void fake_called();  // all that a call launched was told
