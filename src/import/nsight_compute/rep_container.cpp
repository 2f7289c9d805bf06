#include "import/nsight_compute/rep_container.h"

#include <fmt/format.h>

#include <algorithm>
#include <protozero/pbf_reader.hpp>

namespace gf::ncu {

namespace {

// Sizes come from the file: memory grows only as bytes arrive, in pieces of this size.
constexpr std::uint64_t kPiece = 1 << 20;

RepBlock parse_header(std::string_view bytes) {
  RepBlock block;
  protozero::pbf_reader header(bytes.data(), bytes.size());
  while (header.next()) switch (header.tag_and_type()) {
      case protozero::tag_and_type(1, protozero::pbf_wire_type::varint):
        block.sources = header.get_uint64();
        break;
      case protozero::tag_and_type(2, protozero::pbf_wire_type::varint):
        block.results = header.get_uint64();
        break;
      case protozero::tag_and_type(4, protozero::pbf_wire_type::length_delimited): {
        protozero::pbf_reader table = header.get_message();
        while (table.next())
          if (table.wire_type() == protozero::pbf_wire_type::length_delimited)
            block.strings.push_back(table.get_string());
          else
            table.skip();
        break;
      }
      case protozero::tag_and_type(5, protozero::pbf_wire_type::varint):
        block.payload_bytes = header.get_uint64();
        break;
      case protozero::tag_and_type(6, protozero::pbf_wire_type::length_delimited): {
        protozero::pbf_reader process = header.get_message();
        while (process.next())
          if (process.tag_and_type() ==
              protozero::tag_and_type(1, protozero::pbf_wire_type::varint))
            block.pid = static_cast<std::int64_t>(process.get_uint32());
          else if (process.tag_and_type() ==
                   protozero::tag_and_type(2, protozero::pbf_wire_type::length_delimited))
            block.host = process.get_string();
          else if (process.tag_and_type() ==
                   protozero::tag_and_type(3, protozero::pbf_wire_type::length_delimited))
            block.executable = process.get_string();
          else
            process.skip();
        break;
      }
      default:
        header.skip();
    }
  return block;
}

}  // namespace

void RepContainer::ended(const char* where) {
  over_ = true;
  damage_.push_back({QualityCode::truncated,
                     fmt::format("the file ends {}, at byte {}", where, input_.delivered())});
}

Result<bool> RepContainer::read_exactly(std::uint64_t count) {
  buffer_.clear();
  while (buffer_.size() < count) {
    const std::size_t have = buffer_.size(),
                      piece = static_cast<std::size_t>(std::min(kPiece, count - have));
    buffer_.resize(have + piece);
    const auto got = input_.read(buffer_.data() + have, piece);
    if (!got) return tl::unexpected(got.error());
    buffer_.resize(have + *got);
    if (*got < piece) return false;
  }
  return true;
}

Result<bool> RepContainer::skip(std::uint64_t count) {
  std::string scratch(static_cast<std::size_t>(std::min(kPiece, count)), '\0');
  while (count > 0) {
    const auto got = input_.read(
        scratch.data(), static_cast<std::size_t>(std::min<std::uint64_t>(scratch.size(), count)));
    if (!got) return tl::unexpected(got.error());
    if (*got == 0) return false;
    count -= *got;
  }
  return true;
}

Result<std::optional<std::uint32_t>> RepContainer::read_size() {
  const auto whole = read_exactly(4);
  if (!whole) return tl::unexpected(whole.error());
  if (!*whole) return std::optional<std::uint32_t>{};
  std::uint32_t size = 0;
  for (int i = 3; i >= 0; --i)
    size = size << 8 | static_cast<unsigned char>(buffer_[static_cast<std::size_t>(i)]);
  return std::optional(size);
}

Status RepContainer::open() {
  const auto magic = read_exactly(kRepMagic.size());
  if (!magic) return tl::unexpected(magic.error());
  if (buffer_ != kRepMagic)
    return fail("is not an Nsight Compute report: it does not begin with NVR", input_.path(), 0,
                "give a .ncu-rep file or a CSV export of one");
  const auto size = read_size();
  if (!size) return tl::unexpected(size.error());
  const auto whole = *size ? read_exactly(**size) : Result<bool>(false);
  if (!whole) return tl::unexpected(whole.error());
  if (!*whole)
    return fail("the report ends inside its file header", input_.path(),
                static_cast<std::int64_t>(input_.delivered()), "profile again");
  try {
    protozero::pbf_reader header(buffer_);
    while (header.next())
      if (header.tag_and_type() == protozero::tag_and_type(1, protozero::pbf_wire_type::varint))
        version_ = header.get_uint64();
      else
        header.skip();
  } catch (const protozero::exception&) {
    return fail("the report's file header is damaged", input_.path(), 8, "profile again");
  }
  return {};
}

Result<std::optional<RepBlock>> RepContainer::next_block() {
  std::optional<RepBlock> none;
  if (over_) return none;
  if (payload_left_ > 0) {  // the last payload was left early
    const auto skipped = skip(payload_left_);
    payload_left_ = 0;
    if (!skipped) return tl::unexpected(skipped.error());
    if (!*skipped) {
      ended("inside a block's payload");
      return none;
    }
  }
  const std::uint64_t at = input_.delivered();
  const auto size = read_size();
  if (!size) return tl::unexpected(size.error());
  if (!*size) {
    if (buffer_.empty())
      over_ = true;  // the regular end
    else
      ended("inside the size of a block");
    return none;
  }
  const auto whole = read_exactly(**size);
  if (!whole) return tl::unexpected(whole.error());
  if (!*whole) {
    ended("inside a block's header");
    return none;
  }
  try {
    RepBlock block = parse_header(buffer_);
    payload_left_ = block.payload_bytes;
    sources_left_ = block.sources;
    return std::optional(std::move(block));
  } catch (const protozero::exception&) {
    // Where the next block begins stands in this header: there is no way on.
    over_ = true;
    damage_.push_back(
        {QualityCode::damaged_block,
         fmt::format(
             "the header of the block at byte {} is damaged; what follows it cannot be read", at)});
    return none;
  }
}

Result<std::optional<std::string_view>> RepContainer::next_result() {
  std::optional<std::string_view> none;
  while (payload_left_ > 0 && !over_) {
    const std::uint64_t at = input_.delivered();
    Result<std::optional<std::uint32_t>> size = std::optional<std::uint32_t>(UINT32_MAX);
    if (payload_left_ >= 4) size = read_size();
    if (!size) return tl::unexpected(size.error());
    if (!*size) {
      ended("inside a block's payload");
      return none;
    }
    if (payload_left_ >= 4) payload_left_ -= 4;
    if (**size > payload_left_) {
      damage_.push_back(
          {QualityCode::damaged_block,
           fmt::format(
               "the message at byte {} is longer than its block; the rest of the block is left out",
               at)});
      return none;  // next_block skips the rest
    }
    payload_left_ -= **size;
    const bool source = sources_left_ > 0;
    if (source) --sources_left_;
    const auto whole = source ? skip(**size) : read_exactly(**size);
    if (!whole) return tl::unexpected(whole.error());
    if (!*whole) {
      ended(source ? "inside a source" : "inside a result");
      return none;
    }
    if (!source) return std::optional<std::string_view>(buffer_);
  }
  return none;
}

}  // namespace gf::ncu
