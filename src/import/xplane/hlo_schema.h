// Field numbers of hlo.proto and xla_data.proto (openxla/xla, xla/service/hlo.proto and
// xla/xla_data.proto), as far as the work of a program needs them.
#pragma once

#include <protozero/types.hpp>

namespace gf::xplane::hlo_field {

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
