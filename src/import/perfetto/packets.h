// Perfetto's packets: the field numbers that are read, and fields of a message by their type.
#pragma once

#include <cstdint>
#include <protozero/pbf_reader.hpp>
#include <string_view>

namespace gf::perfetto {

// Field numbers of protos/perfetto/trace of the Perfetto repository.
namespace field {
enum : protozero::pbf_tag_type { kPacket = 1 };
enum Packet : protozero::pbf_tag_type {
  kTimestamp = 8,
  kSequence = 10,
  kEvent = 11,
  kInterned = 12,
  kFlags = 13,
  kStage = 53,
  kTrack = 60
};
enum Interned : protozero::pbf_tag_type {
  kCategories = 1,
  kEventNames = 2,
  kAnnotationNames = 3,
  kSpecifications = 24,
  kAnnotationTexts = 29,
  kComputeKernels = 1000,
  kComputeArguments = 1001
};
enum Named : protozero::pbf_tag_type { kId = 1, kName = 2, kDemangled = 3 };
enum Stage : protozero::pbf_tag_type {
  kEventId = 1,
  kDuration = 2,
  kContext = 5,
  kExtra = 6,
  kGpu = 11,
  kQueueNumber = 13,
  kStageName = 14,
  kOwnName = 17,
  kKernel = 19,
  kOwnNameNumber = 20,
  kLaunch = 21
};
enum Launch : protozero::pbf_tag_type { kGrid = 1, kWorkgroup = 2, kArguments = 3 };
enum Track : protozero::pbf_tag_type { kUuid = 1, kTrackName = 2, kProcess = 3, kThread = 4 };
enum Event : protozero::pbf_tag_type {
  kCategoryNumbers = 3,
  kAnnotations = 4,
  kType = 9,
  kNameNumber = 10,
  kTrackUuid = 11,
  kCategoryTexts = 22,
  kNameText = 23,
  kCorrelation = 3000
};
enum Annotation : protozero::pbf_tag_type {
  kKeyNumber = 1,
  kUnsigned = 3,
  kSigned = 4,
  kText = 6,
  kTextNumber = 17,
  kKey = 10,
  kList = 12
};
}  // namespace field

/// The present field as a number, or as the bytes of a text or message; false, and passed over,
/// when it is of another type.
inline bool read(protozero::pbf_reader& message, std::uint64_t& number) {
  if (message.wire_type() == protozero::pbf_wire_type::varint) {
    number = message.get_uint64();
    return true;
  }
  if (message.wire_type() == protozero::pbf_wire_type::fixed64) {
    number = message.get_fixed64();
    return true;
  }
  message.skip();
  return false;
}
inline bool read(protozero::pbf_reader& message, std::string_view& bytes) {
  if (message.wire_type() == protozero::pbf_wire_type::length_delimited) {
    const auto view = message.get_view();
    bytes = {view.data(), view.size()};
    return true;
  }
  message.skip();
  return false;
}
inline protozero::pbf_reader message_of(std::string_view bytes) {
  return protozero::pbf_reader(bytes.data(), bytes.size());
}

}  // namespace gf::perfetto
