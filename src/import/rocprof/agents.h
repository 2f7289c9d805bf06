// GPUs of a capture of AMD's profilers, by what its rows call them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "import/trace_rows.h"
#include "model/capture.h"

namespace gf::rocprof {

struct Agent {
  std::int32_t index = 0;  // among the GPUs
  std::string_view product, architecture;
  std::int64_t compute_units = -1;
};

class Agents {
 public:
  explicit Agents(Capture& capture) : c_(capture) {}

  void add_gpu(std::string key, const Agent& agent) {
    const auto row = rows_[std::move(key)] = c_.device_row(agent.index);
    auto& devices = c_.devices;
    devices.name[row] =
        c_.strings.intern(agent.product.empty() ? agent.architecture : agent.product);
    devices.vendor[row] = c_.strings.intern("amd");
    if (agent.compute_units > 0 && agent.compute_units < 4096)
      devices.sm_count[row] = static_cast<std::int32_t>(agent.compute_units);
  }
  void add_other(std::string key) { rows_[std::move(key)] = kNoRow; }
  bool is_gpu(const std::string& key) const {
    const auto found = rows_.find(key);
    return found != rows_.end() && found->second != kNoRow;
  }
  bool knows(const std::string& key) const { return rows_.contains(key); }
  bool empty() const { return rows_.empty(); }
  /// The GPU that a row names; one that nothing described gets the next number.
  std::uint32_t row(const std::string& key) {
    if (c_.devices.size() >= kMostDevices && !is_gpu(key)) return kNoRow;
    const auto [at, fresh] = rows_.try_emplace(key, kNoRow);
    if (at->second != kNoRow) return at->second;
    std::int32_t next = 0;
    for (std::size_t i = 0; i < c_.devices.size(); ++i) next = std::max(next, c_.devices.id[i] + 1);
    at->second = c_.device_row(next);
    c_.devices.vendor[at->second] = c_.strings.intern("amd");
    c_.note_quality(QualityCode::assumed_device,
                    "the capture does not describe its GPUs: they are numbered as they come");
    return at->second;
  }
  /// The GPU of a copy: the one that data goes to, else the one that it comes from.
  std::uint32_t row_of_copy(const std::string& from, const std::string& to) {
    if (is_gpu(to) || (empty() && !is_gpu(from))) return row(to);
    return row(is_gpu(from) ? from : to);
  }

 private:
  Capture& c_;
  std::map<std::string, std::uint32_t> rows_;  // kNoRow: of a CPU
};

}  // namespace gf::rocprof
