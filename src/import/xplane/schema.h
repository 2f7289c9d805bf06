// Field numbers of xplane.proto (openxla/xla, third_party/tsl/tsl/profiler/protobuf/xplane.proto).
#pragma once

#include <protozero/types.hpp>

namespace gf::xplane::field {

namespace space {
enum : protozero::pbf_tag_type { planes = 1, errors = 2, warnings = 3, hostnames = 4 };
}
namespace plane {
enum : protozero::pbf_tag_type {
  id = 1,
  name = 2,
  lines = 3,
  event_metadata = 4,
  stat_metadata = 5,
  stats = 6
};
}
namespace line {
enum : protozero::pbf_tag_type {
  id = 1,
  name = 2,
  timestamp_ns = 3,
  events = 4,
  display_id = 10,
  display_name = 11
};
}
namespace event {
enum : protozero::pbf_tag_type {
  metadata_id = 1,
  offset_ps = 2,
  duration_ps = 3,
  stats = 4,
  num_occurrences = 5
};
}
namespace stat {
enum : protozero::pbf_tag_type {
  metadata_id = 1,
  f64 = 2,
  u64 = 3,
  i64 = 4,
  str = 5,
  bytes = 6,
  ref = 7
};
}
namespace event_metadata {
enum : protozero::pbf_tag_type { id = 1, name = 2, metadata = 3, display_name = 4, stats = 5 };
}
namespace stat_metadata {
enum : protozero::pbf_tag_type { id = 1, name = 2 };
}
namespace map_entry {
enum : protozero::pbf_tag_type { key = 1, value = 2 };
}

}  // namespace gf::xplane::field
