#include "import/kineto/kineto.h"

#include <deque>

#include "core/machine.h"
#include "core/pipeline.h"
#include "import/kineto/cutter.h"
#include "import/kineto/merge.h"
#include "import/kineto/metadata.h"

namespace gf::kineto {

namespace {

// Large enough that the seams cost nothing, small enough for a core's cache.
constexpr std::size_t kChunk = 256 << 10;

}  // namespace

int sniff(std::string_view, std::string_view head) {
  auto has = [&](std::string_view part) { return head.find(part) != head.npos; };
  const auto first = head.find_first_not_of("\xef\xbb\xbf \t\r\n");
  if (first == head.npos || (head[first] != '{' && head[first] != '[')) return 0;
  if (has("\"deviceProperties\"") || has("\"baseTimeNanoseconds\"")) return 90;
  if (has("\"ph\"") && (has("\"cpu_op\"") || has("\"Operator\"") || has("\"cuda_runtime\"")))
    return 80;
  if (has("\"schemaVersion\"") && has("\"traceEvents\"")) return 80;
  if (has("\"ph\"") && (has("\"traceEvents\"") || head[first] == '[')) return 30;
  if (has("\"traceEvents\"")) return 20;
  return 0;
}

Result<Capture> load(const std::string& path, const ImportOptions& options) {
  auto input = Input::open(path, options.max_bytes);
  if (!input) return tl::unexpected(input.error());
  Cutter cutter(std::move(*input), options.chunk_bytes ? options.chunk_bytes : kChunk);
  if (auto ok = cutter.read_header(); !ok) return tl::unexpected(ok.error());

  Capture capture;
  capture.format = "kineto";
  capture.framework = "pytorch";
  auto base = read_metadata(capture, cutter.header());

  unsigned workers = 0;
  if (options.threads) {
    workers = options.threads;
  } else {
    workers = usable_cores();
  }
  std::deque<Worker> own;
  for (unsigned number = 0; number < workers; ++number) {
    own.emplace_back(number);
    if (!options.learn_layouts) own.back().layouts.learn_nothing();
  }
  std::deque<Chunk> slots(2 * workers + 2);
  Merge merge(capture, workers);
  Status status;
  run_in_order(
      slots, workers,
      [&](Chunk& chunk) {
        auto more = cutter.next(chunk);
        if (!more) status = tl::unexpected(more.error());
        if (more && options.progress && !options.progress("reading", cutter.input().done()))
          status = fail("reading was stopped", path);
        return status && *more;
      },
      [&](Chunk& chunk, unsigned worker) { parse_chunk(chunk, own[worker]); },
      [&](Chunk& chunk) { merge.add(chunk); });
  if (!status) return tl::unexpected(status.error());

  const bool cut =
      merge.closed() && !cutter.bare_array() && merge.trailer().find('}') == std::string::npos;
  if (cut)
    capture.note_quality(QualityCode::truncated_json,
                         "the file ends after its events, without its closing brace");
  if (auto later = read_metadata(capture, merge.trailer(), cut)) base = later;
  merge.finish(base.value_or(0));
  note_damage(capture, cutter.input());
  capture.bytes = static_cast<std::int64_t>(cutter.input().delivered());
  return capture;
}

}  // namespace gf::kineto
