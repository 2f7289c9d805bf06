// The names that advice gives to a framework's own calls and settings.
#pragma once

#include <string_view>

namespace gf {

/// Each is a part of a sentence of a finding. Empty: the framework has nothing of the kind.
struct FrameworkTerms {
  std::string_view framework;      // as in Capture::framework
  bool captures_graphs;            // by calls of the program
  std::string_view synchronizing;  // calls that wait for the GPU
  std::string_view launch_less;    // ends a sentence, and has its full stop
  std::string_view next_input;     // a sentence
  std::string_view pinned;         // a sentence about copies from pageable memory
  std::string_view fuse;           // a sentence about adjacent kernels
  std::string_view fuse_tiny;      // in brackets, behind "Fuse them"
  std::string_view attention;      // in brackets, behind "one fused kernel"
  std::string_view one_batch;      // in brackets, behind "do all as one batch"
  std::string_view in_place;       // in brackets, behind "Work in place"
  std::string_view nhwc;           // the layout of tensor core convolutions
  std::string_view allow_tf32;     // where the GPU has it
  std::string_view mixed_precision;
};

/// A framework without a row gets the terms of an unknown one.
const FrameworkTerms& terms_of_framework(std::string_view framework);

}  // namespace gf
