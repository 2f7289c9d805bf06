#include "import/xplane/hlo_module.h"

#include <cmath>
#include <protozero/pbf_reader.hpp>
#include <protozero/types.hpp>
#include <utility>

namespace gf::xplane::hlo_field {

// Field numbers of hlo.proto and xla_data.proto (openxla/xla, xla/service/hlo.proto and
// xla/xla_data.proto), as far as the work of a program needs them.

namespace proto {
enum : protozero::pbf_tag_type { module = 1 };
}
namespace module {
enum : protozero::pbf_tag_type { name = 1, computations = 3, id = 5, entry = 6, schedule = 7 };
}
namespace schedule {
enum : protozero::pbf_tag_type { sequences = 1, instruction_ids = 1 };
}
namespace computation {
enum : protozero::pbf_tag_type { name = 1, instructions = 2, id = 5, root = 6 };
}
namespace instruction {
enum : protozero::pbf_tag_type {
  name = 1,
  opcode = 2,
  shape = 3,
  metadata = 7,
  parameter_number = 9,
  window = 15,
  convolution = 16,
  call_target = 28,
  dot = 30,
  id = 35,
  operands = 36,
  called = 38,
  backend_config = 43,
  feature_groups = 50
};
}
namespace metadata {
enum : protozero::pbf_tag_type { op_name = 2 };
}
namespace shape {
enum : protozero::pbf_tag_type { element_type = 2, dimensions = 3, parts = 4 };
}
namespace window {
enum : protozero::pbf_tag_type { dimensions = 1 };
}
namespace window_dimension {
enum : protozero::pbf_tag_type {
  size = 1,
  stride = 2,
  padding_low = 3,
  window_dilation = 5,
  base_dilation = 6
};
}
namespace convolution {
enum : protozero::pbf_tag_type {
  kernel_input_feature = 3,
  kernel_output_feature = 4,
  kernel_spatial = 6,
  input_spatial = 11,
  output_spatial = 12
};
}
namespace dot {
enum : protozero::pbf_tag_type { left_contracting = 1, left_batch = 3 };
}

}  // namespace gf::xplane::hlo_field

namespace gf::xplane {

namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

constexpr std::size_t kMostInstructions = 1'000'000;  // of a module; the largest known have 100 000
constexpr std::size_t kMostDimensions = 64;
constexpr int kDeepestTuple = 16;

std::string_view text_view(protozero::data_view value) { return {value.data(), value.size()}; }

/// Walks the fields of a message: on_number(tag, value) for varints, on_part(tag, bytes) for all
/// that is length-delimited.
template <class Number, class Part>
void each_field(std::string_view message, Number&& on_number, Part&& on_part) {
  pbf_reader fields{message.data(), message.size()};
  while (fields.next()) {
    const auto tag = fields.tag();
    if (fields.wire_type() == pbf_wire_type::varint)
      on_number(tag, fields.get_uint64());
    else if (fields.wire_type() == pbf_wire_type::length_delimited)
      on_part(tag, text_view(fields.get_view()));
    else
      fields.skip();
  }
}

constexpr auto kNoNumber = [](protozero::pbf_tag_type, std::uint64_t) {};
constexpr auto kNoPart = [](protozero::pbf_tag_type, std::string_view) {};

/// Repeated numbers come packed, or one field each.
template <class Value>
void append_packed(std::string_view packed, std::vector<Value>& values) {
  const char* at = packed.data();
  const char* const end = at + packed.size();
  while (at != end) values.push_back(static_cast<Value>(protozero::decode_varint(&at, end)));
}

/// False for a shape that no program can have.
bool read_shape(std::string_view message, HloShape& shape, int depth) {
  bool good = depth < kDeepestTuple, first = true;
  if (!good) return false;
  each_field(
      message,
      [&](auto tag, std::uint64_t value) {
        if (tag == hlo_field::shape::element_type) shape.type = value;
        if (tag == hlo_field::shape::dimensions)
          shape.dims.push_back(static_cast<std::int64_t>(value));
      },
      [&](auto tag, std::string_view part) {
        if (tag == hlo_field::shape::dimensions) append_packed(part, shape.dims);
        if (tag != hlo_field::shape::parts) return;
        HloShape inner;
        good = read_shape(part, inner, depth + 1) && good;
        shape.bytes += inner.bytes;
        if (first) std::swap(shape.dims, inner.dims);
        if (first) shape.type = inner.type;
        shape.tuple = true;
        first = false;
      });
  if (shape.dims.size() > kMostDimensions) return false;
  for (const auto size : shape.dims) good = good && size >= 0;
  if (!shape.tuple) shape.bytes = shape.array_bytes();
  constexpr double kMost = 1e18;  // bytes: no machine holds more
  return good && std::isfinite(shape.bytes) && shape.bytes <= kMost;
}

/// False when the instruction cannot be one.
bool read_instruction(std::string_view message, HloInstruction& instruction) {
  namespace fields = hlo_field::instruction;
  bool good = true;
  each_field(
      message,
      [&](auto tag, std::uint64_t value) {
        if (tag == fields::id) instruction.id = value;
        if (tag == fields::parameter_number)
          instruction.parameter = static_cast<std::int64_t>(value);
        if (tag == fields::feature_groups)
          instruction.feature_groups = static_cast<std::int64_t>(value);
        if (tag == fields::operands) instruction.operand_ids.push_back(value);
        if (tag == fields::called) instruction.called.push_back(value);
      },
      [&](auto tag, std::string_view part) {
        if (tag == fields::name) instruction.name = part;
        if (tag == fields::opcode) instruction.opcode = part;
        if (tag == fields::shape) good = read_shape(part, instruction.shape, 0) && good;
        if (tag == fields::window) instruction.window = part;
        if (tag == fields::convolution) instruction.convolution = part;
        if (tag == fields::dot) instruction.dot = part;
        if (tag == fields::call_target) instruction.call_target = part;
        if (tag == fields::backend_config) instruction.backend_config = part;
        if (tag == fields::operands) append_packed(part, instruction.operand_ids);
        if (tag == fields::called) append_packed(part, instruction.called);
        if (tag == fields::metadata)
          each_field(part, kNoNumber, [&](auto inner, std::string_view text) {
            if (inner == hlo_field::metadata::op_name) instruction.op_name = text;
          });
      });
  return good && !instruction.opcode.empty();
}

/// Instruction ids in the order of execution, by computation.
using Schedule = std::unordered_map<std::uint64_t, std::vector<std::uint64_t>>;

Schedule read_schedule(std::string_view message) {
  Schedule schedule;
  each_field(message, kNoNumber, [&](auto tag, std::string_view entry) {
    if (tag != hlo_field::schedule::sequences || schedule.size() >= kMostInstructions) return;
    std::uint64_t computation = 0;
    std::vector<std::uint64_t> ids;
    each_field(
        entry,
        [&](auto inner, std::uint64_t value) {
          if (inner == 1) computation = value;
        },
        [&](auto inner, std::string_view sequence) {
          if (inner != 2) return;
          each_field(
              sequence, [&](auto, std::uint64_t value) { ids.push_back(value); },
              [&](auto, std::string_view packed) { append_packed(packed, ids); });
        });
    schedule[computation] = std::move(ids);
  });
  return schedule;
}

class ModuleReader {
 public:
  HloModule read(std::string_view message) {
    try {
      each_field(
          message,
          [&](auto tag, std::uint64_t value) {
            if (tag == hlo_field::module::id) module_.id = static_cast<std::int64_t>(value);
            if (tag == hlo_field::module::entry) module_.entry_id = value;
          },
          [&](auto tag, std::string_view part) {
            if (tag == hlo_field::module::name) module_.name = part;
            if (tag == hlo_field::module::computations) computation(part);
            if (tag == hlo_field::module::schedule) schedule_ = part;
          });
    } catch (const protozero::exception&) {
      ++module_.damaged;
    }
    order();
    return std::move(module_);
  }

 private:
  void computation(std::string_view message) {
    if (module_.computations.size() >= kMostInstructions) {
      ++module_.damaged;
      return;
    }
    HloComputation computation;
    try {
      each_field(
          message,
          [&](auto tag, std::uint64_t value) {
            if (tag == hlo_field::computation::id) computation.id = value;
            if (tag == hlo_field::computation::root) computation.root_id = value;
          },
          [&](auto tag, std::string_view part) {
            if (tag == hlo_field::computation::instructions) instruction(part, computation);
          });
    } catch (const protozero::exception&) {
      ++module_.damaged;
      computation.whole = false;
    }
    link(computation);
    const auto place = static_cast<std::uint32_t>(module_.computations.size());
    if (!module_.by_id.emplace(computation.id, place).second) ++module_.damaged;
    module_.computations.push_back(std::move(computation));
  }

  void instruction(std::string_view message, HloComputation& computation) {
    if (++instructions_ > kMostInstructions) {
      ++module_.damaged;
      computation.whole = false;
      return;
    }
    HloInstruction instruction;
    bool good = false;
    try {
      good = read_instruction(message, instruction);
    } catch (const protozero::exception&) {
    }
    if (good) {
      computation.instructions.push_back(std::move(instruction));
      return;
    }
    ++module_.damaged;
    computation.whole = false;
  }

  /// Ids to places.
  void link(HloComputation& computation) {
    auto& places = places_[computation.id];
    for (std::uint32_t place = 0; place < computation.instructions.size(); ++place)
      places.emplace(computation.instructions[place].id, place);
    const auto place_of = [&](std::uint64_t id) {
      const auto at = places.find(id);
      return at == places.end() ? kNoInstruction : at->second;
    };
    computation.root = place_of(computation.root_id);
    for (auto& instruction : computation.instructions) {
      instruction.operands.reserve(instruction.operand_ids.size());
      for (const auto id : instruction.operand_ids) instruction.operands.push_back(place_of(id));
      instruction.operand_ids.clear();
      instruction.operand_ids.shrink_to_fit();
    }
  }

  void order() {
    Schedule schedule;
    try {
      schedule = read_schedule(schedule_);
    } catch (const protozero::exception&) {
      ++module_.damaged;
      return;
    }
    for (auto& computation : module_.computations) {
      const auto ids = schedule.find(computation.id);
      if (ids == schedule.end()) continue;
      const auto& places = places_[computation.id];
      std::vector<bool> seen(computation.instructions.size());
      for (const auto id : ids->second) {
        const auto at = places.find(id);
        if (at == places.end() || seen[at->second]) continue;
        seen[at->second] = true;
        computation.schedule.push_back(at->second);
      }
    }
  }

  HloModule module_;
  std::string_view schedule_;
  std::size_t instructions_ = 0;
  std::unordered_map<std::uint64_t, std::unordered_map<std::uint64_t, std::uint32_t>> places_;
};

}  // namespace

HloType hlo_type(std::uint64_t number) {
  static constexpr HloType kTypes[] = {{"", 0},
                                       {"bool", 8},
                                       {"int8", 8},
                                       {"int16", 16},
                                       {"int32", 32},
                                       {"int64", 64},
                                       {"int8", 8},
                                       {"int16", 16},
                                       {"int32", 32},
                                       {"int64", 64},
                                       {"fp16", 16},
                                       {"fp32", 32},
                                       {"fp64", 64},
                                       {"", 0},
                                       {"", 0},
                                       {"complex64", 64},
                                       {"bf16", 16},
                                       {"", 0},
                                       {"complex128", 128},
                                       {"fp8", 8},
                                       {"fp8", 8},
                                       {"", 4},
                                       {"", 4},
                                       {"fp8", 8},
                                       {"fp8", 8},
                                       {"fp8", 8},
                                       {"", 2},
                                       {"", 2},
                                       {"fp8", 8},
                                       {"fp8", 8},
                                       {"", 1},
                                       {"", 1},
                                       {"", 4},
                                       {"", 8}};
  return number < std::size(kTypes) ? kTypes[number] : HloType{};
}

double HloShape::elements() const {
  double product = 1;
  for (const auto size : dims) product *= static_cast<double>(size);
  return product;
}

double HloShape::dim(std::int64_t which) const {
  if (which < 0 || static_cast<std::size_t>(which) >= dims.size()) return 1;
  return static_cast<double>(dims[static_cast<std::size_t>(which)]);
}

double HloShape::array_bytes() const { return elements() * hlo_type(type).bits / 8; }

HloModule read_hlo(std::string_view proto) {
  std::string_view message;
  try {
    each_field(proto, kNoNumber, [&](auto tag, std::string_view part) {
      if (tag == hlo_field::proto::module) message = part;
    });
  } catch (const protozero::exception&) {
    HloModule damaged = ModuleReader().read(message);
    ++damaged.damaged;
    return damaged;
  }
  return ModuleReader().read(message);
}

std::vector<HloWindowDimension> read_window(std::string_view message) {
  std::vector<HloWindowDimension> window;
  each_field(message, kNoNumber, [&](auto tag, std::string_view part) {
    namespace fields = hlo_field::window_dimension;
    if (tag != hlo_field::window::dimensions || window.size() >= kMostDimensions) return;
    HloWindowDimension& dimension = window.emplace_back();
    each_field(
        part,
        [&](auto inner, std::uint64_t value) {
          const auto number = static_cast<std::int64_t>(value);
          if (inner == fields::size) dimension.size = number;
          if (inner == fields::stride) dimension.stride = number;
          if (inner == fields::padding_low) dimension.padding_low = number;
          if (inner == fields::window_dilation) dimension.window_dilation = number;
          if (inner == fields::base_dilation) dimension.base_dilation = number;
        },
        kNoPart);
  });
  return window;
}

HloConvolution read_convolution(std::string_view message) {
  namespace fields = hlo_field::convolution;
  HloConvolution convolution;
  each_field(
      message,
      [&](auto tag, std::uint64_t value) {
        const auto number = static_cast<std::int64_t>(value);
        if (tag == fields::kernel_input_feature) convolution.kernel_input_feature = number;
        if (tag == fields::kernel_output_feature) convolution.kernel_output_feature = number;
        if (tag == fields::kernel_spatial) convolution.kernel_spatial.push_back(number);
        if (tag == fields::input_spatial) convolution.input_spatial.push_back(number);
        if (tag == fields::output_spatial) convolution.output_spatial.push_back(number);
      },
      [&](auto tag, std::string_view part) {
        if (tag == fields::kernel_spatial) append_packed(part, convolution.kernel_spatial);
        if (tag == fields::input_spatial) append_packed(part, convolution.input_spatial);
        if (tag == fields::output_spatial) append_packed(part, convolution.output_spatial);
      });
  return convolution;
}

HloDot read_dot(std::string_view message) {
  HloDot dot;
  const auto list_of = [&](protozero::pbf_tag_type tag) -> std::vector<std::int64_t>* {
    if (tag == hlo_field::dot::left_contracting) return &dot.left_contracting;
    if (tag == hlo_field::dot::left_batch) return &dot.left_batch;
    return nullptr;
  };
  each_field(
      message,
      [&](auto tag, std::uint64_t value) {
        if (auto* list = list_of(tag)) list->push_back(static_cast<std::int64_t>(value));
      },
      [&](auto tag, std::string_view part) {
        if (auto* list = list_of(tag)) append_packed(part, *list);
      });
  return dot;
}

}  // namespace gf::xplane
