// Options that mean the same for every verb that reads a capture.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/options.h"
#include "session/load_capture.h"

namespace gf::cli {

/// The files, and --zone, --max-bytes and --threads.
void add_input_options(Verb& verb, InputOptions& options);
/// --ranks.
void add_peers_option(Verb& verb, std::vector<std::string>& peers);
/// --max-bytes and --threads.
void add_limit_options(Verb& verb, std::uint64_t& max_bytes, unsigned& threads);

/// Adds --window; a text that can mean no window is wrong usage.
void add_window_option(Verb& verb, std::string& window,
                       std::string help =
                           "span to analyze: auto (default: the steps, or all if there are none), "
                           "all, steps, stable, step:N or START:END, such as 10ms:25ms");

}  // namespace gf::cli
