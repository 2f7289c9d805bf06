// Decodes what the export wrote, by the format's own rules: slices balance and nest, names resolve,
// arrows meet.
#include <gtest/gtest.h>

#include <map>
#include <protozero/pbf_reader.hpp>
#include <set>

#include "analyze/analyze.h"
#include "import/importer.h"
#include "report/perfetto/export.h"
#include "report/perfetto/tracks.h"

namespace gf {
namespace {

using Reader = protozero::pbf_reader;

struct Track {
  std::string name;
  std::uint64_t parent = 0;
  std::vector<std::uint64_t> open;  // begin times
  std::uint64_t last = 0;
  std::int64_t slices = 0, values = 0, busy = 0;
};

struct Decoded {
  std::map<std::uint64_t, Track> tracks;
  std::map<std::uint64_t, std::string> names;
  std::set<std::uint64_t> out, in;
  std::map<std::string, std::int64_t> slices_by_category;
  std::map<std::uint64_t, std::string> categories;

  void text(Reader entry, std::map<std::uint64_t, std::string>& into) {
    std::uint64_t id = 0;
    while (entry.next())
      if (entry.tag() == 1)
        id = entry.get_uint64();
      else if (entry.tag() == 2)
        into[id] = entry.get_string();
      else
        entry.skip();
  }
  void descriptor(Reader reader) {
    std::uint64_t id = 0;
    Track track;
    while (reader.next()) {
      if (reader.tag() == 1)
        id = reader.get_uint64();
      else if (reader.tag() == 2)
        track.name = reader.get_string();
      else if (reader.tag() == 5)
        track.parent = reader.get_uint64();
      else
        reader.skip();
    }
    EXPECT_TRUE(tracks.emplace(id, track).second) << "two tracks with one id";
    EXPECT_TRUE(track.parent == 0 || tracks.count(track.parent));
  }
  void event(std::uint64_t at, Reader reader) {
    int type = 0;
    std::uint64_t id = 0, name = 0, category = 0;
    while (reader.next()) {
      switch (reader.tag()) {
        case 9:
          type = reader.get_enum();
          break;
        case 11:
          id = reader.get_uint64();
          break;
        case 10:
          name = reader.get_uint64();
          break;
        case 3:
          category = reader.get_uint64();
          break;
        case 47:
          out.insert(reader.get_fixed64());
          break;
        case 48:
          in.insert(reader.get_fixed64());
          break;
        default:
          reader.skip();
      }
    }
    ASSERT_TRUE(tracks.count(id));
    Track& track = tracks[id];
    EXPECT_GE(at, track.last) << "events of a track are in order";
    track.last = at;
    if (type == 1) {
      EXPECT_TRUE(names.count(name)) << "the name came before";
      track.open.push_back(at);
      ++track.slices;
      ++slices_by_category[categories[category]];
    } else if (type == 2) {
      ASSERT_FALSE(track.open.empty()) << "an end without a begin";
      if (track.open.size() == 1) track.busy += static_cast<std::int64_t>(at - track.open.back());
      track.open.pop_back();
    } else {
      ++track.values;
    }
  }
};

Decoded decode(const std::string& bytes) {
  Decoded decoded;
  Reader trace(bytes);
  while (trace.next(1)) {
    Reader packet = trace.get_message();
    std::uint64_t at = 0;
    while (packet.next()) {
      if (packet.tag() == 8)
        at = packet.get_uint64();
      else if (packet.tag() == 60)
        decoded.descriptor(packet.get_message());
      else if (packet.tag() == 11)
        decoded.event(at, packet.get_message());
      else if (packet.tag() == 12) {
        Reader interned = packet.get_message();
        while (interned.next()) {
          if (interned.tag() == 1)
            decoded.text(interned.get_message(), decoded.categories);
          else if (interned.tag() == 2)
            decoded.text(interned.get_message(), decoded.names);
          else
            interned.skip();
        }
      } else {
        packet.skip();
      }
    }
  }
  for (const auto& [id, track] : decoded.tracks) EXPECT_TRUE(track.open.empty()) << track.name;
  return decoded;
}

TEST(Perfetto, HoldsEveryEventOfTheCapture) {
  const auto capture = import_file("examples/resnet50_amp_eager_b64.json.gz");
  ASSERT_TRUE(capture) << capture.error().message();
  std::optional<Context> context;
  const auto analysis = analyze(*capture, {}, &context);
  ASSERT_TRUE(analysis);
  std::string bytes;
  ASSERT_TRUE(write_perfetto(*context, [&](std::string_view part) {
    bytes += part;
    return Status{};
  }));
  const Decoded decoded = decode(bytes);
  std::int64_t slices = 0, on_streams = 0, stream_time = 0, durations = 0;
  for (const auto& [id, track] : decoded.tracks) {
    slices += track.slices;
    if (track.name.starts_with("stream")) {
      on_streams += track.slices;
      stream_time += track.busy;
    }
  }
  for (const auto ns : capture->activities.duration_ns) durations += ns;
  EXPECT_EQ(on_streams, static_cast<std::int64_t>(capture->activities.size()));
  EXPECT_EQ(stream_time, durations) << "overlapping kernels spill to other tracks, none is cut";
  EXPECT_EQ(slices - on_streams,
            static_cast<std::int64_t>(capture->host_ops.size() + capture->api_calls.size() +
                                      context->devices[0].idle_pieces.size() +
                                      context->window.all_steps.size()));
  EXPECT_EQ(decoded.in, decoded.out) << "every arrow has both ends";
  EXPECT_EQ(decoded.in.size(), capture->activities.size());
}

TEST(Perfetto, ErrorsOfTheSinkAreGivenBack) {
  const auto capture = import_file("examples/lenet_inf_b1.json.gz");
  ASSERT_TRUE(capture);
  std::optional<Context> context;
  ASSERT_TRUE(analyze(*capture, {}, &context));
  const auto status =
      write_perfetto(*context, [](std::string_view) -> Status { return fail("disk full", "x"); });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().what, "disk full");
}

TEST(Tracks, SpansThatDoNotNestGoToAnotherTrack) {
  const std::vector<Interval> spans{{0, 10}, {2, 4}, {3, 12}, {4, 6}, {12, 13}};
  EXPECT_EQ(perfetto::nesting_tracks(spans), (std::vector<std::uint32_t>{0, 0, 1, 0, 0}));
  EXPECT_EQ(free_rows(spans),
            (std::vector<std::uint32_t>{0, 1, 2, 1, 0}));  // never two in one place
}

}  // namespace
}  // namespace gf
