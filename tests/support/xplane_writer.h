// Profiles of TensorFlow and JAX, written message by message.
#pragma once

#include <cstdint>
#include <functional>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <vector>

namespace gf::test {

using protozero::pbf_writer;

inline std::string message(const std::function<void(pbf_writer&)>& fill) {
  std::string bytes;
  pbf_writer w{bytes};
  fill(w);
  return bytes;
}

/// A map entry id -> {id, name}, as event_metadata and stat_metadata have them.
inline std::string entry(std::uint64_t id, const std::string& name,
                         const std::string& display = {}) {
  return message([&](pbf_writer& w) {
    w.add_uint64(1, id);
    w.add_message(2, message([&](pbf_writer& v) {
                    v.add_uint64(1, id);
                    v.add_string(2, name);
                    if (!display.empty()) v.add_string(4, display);
                  }));
  });
}

inline std::string event(std::uint64_t id, std::int64_t offset_ps, std::int64_t duration_ps,
                         const std::vector<std::string>& stats = {}) {
  return message([&](pbf_writer& w) {
    w.add_uint64(1, id);
    w.add_int64(2, offset_ps);
    w.add_int64(3, duration_ps);
    for (const auto& s : stats) w.add_message(4, s);
  });
}

inline std::string number_stat(std::uint64_t id, std::int64_t value) {
  return message([&](pbf_writer& w) {
    w.add_uint64(1, id);
    w.add_int64(4, value);
  });
}
inline std::string ref_stat(std::uint64_t id, std::uint64_t ref) {
  return message([&](pbf_writer& w) {
    w.add_uint64(1, id);
    w.add_uint64(7, ref);
  });
}

inline std::string line(std::uint64_t id, const std::string& name, std::int64_t timestamp,
                        const std::vector<std::string>& events) {
  return message([&](pbf_writer& w) {
    w.add_uint64(1, id);
    w.add_string(2, name);
    for (const auto& e : events) w.add_message(4, e);
    w.add_int64(3, timestamp);  // behind the events: order is not promised
  });
}

inline std::string plane(const std::string& name, const std::vector<std::string>& lines,
                         const std::vector<std::string>& events = {},
                         const std::vector<std::string>& stats = {}) {
  return message([&](pbf_writer& w) {
    w.add_string(2, name);
    for (const auto& l : lines) w.add_message(3, l);
    for (const auto& e : events) w.add_message(4, e);  // metadata after the lines that use it
    for (const auto& s : stats) w.add_message(5, s);
  });
}

inline std::string space(const std::vector<std::string>& planes) {
  return message([&](pbf_writer& w) {
    for (const auto& p : planes) w.add_message(1, p);
  });
}

inline constexpr std::int64_t kEpoch = 1'700'000'000'000'000'000;

}  // namespace gf::test
