// Files that hold no capture, known by sight (strangers.def).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/error.h"

namespace gf {

enum class Shape : std::uint8_t { any, folder, sqlite, json, text, perfetto, binary };

struct Stranger {
  Shape shape;
  std::string_view named, begins;
  std::array<std::string_view, 3> has;
  std::string_view writer, what, next;
};

std::span<const Stranger> strangers();

/// The row of a profiler's file; nullptr when it is none of theirs. `head`: the first bytes of the
/// content.
const Stranger* find_stranger(std::string_view path, std::string_view head);
/// The same of a folder, by the names in it.
const Stranger* find_stranger_folder(const char* path);

/// The error of a file that another tool wrote.
tl::unexpected<Error> refuse(const Stranger& stranger, const std::string& path);

/// Describes content for error messages: "a PNG image", "an ELF program", "zeros only",
/// "text"; empty when unknown.
std::string_view describe_content(std::string_view head);

}  // namespace gf
