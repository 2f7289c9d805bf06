#include "report/html/embed.h"

#include <zlib.h>

#include <new>

#include "core/base64.h"

namespace gf {

std::string gzipped(std::string_view bytes, int effort) {
  z_stream stream{};
  constexpr int kGzip = 15 + 16;
  if (deflateInit2(&stream, effort, Z_DEFLATED, kGzip, 9, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  std::string out;
  char buffer[1 << 16];
  int state = Z_OK;
  // zlib counts input in 32 bits, so that large inputs go in pieces.
  while (state != Z_STREAM_END) {
    const auto piece = bytes.substr(0, 1u << 30);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
    stream.avail_in = static_cast<uInt>(piece.size());
    const bool last = piece.size() == bytes.size();
    do {
      stream.next_out = reinterpret_cast<Bytef*>(buffer);
      stream.avail_out = sizeof buffer;
      state = deflate(&stream, last ? Z_FINISH : Z_NO_FLUSH);
      out.append(buffer, sizeof buffer - stream.avail_out);
    } while (stream.avail_out == 0);
    bytes.remove_prefix(piece.size());
  }
  deflateEnd(&stream);
  return out;
}

Result<std::string> filled_page(std::string_view answer, std::string_view timeline) {
  if (kPageBefore.empty())
    return fail("this build has no HTML report: it was built without Node", {}, -1,
                "run ./dev setup, then ./dev build");
  std::string page(kPageBefore);
  page += base64(gzipped(answer));
  page += kPageBetween;
  // The timeline is packed already: more effort costs time and gains little.
  if (!timeline.empty()) page += base64(gzipped(timeline, 6));
  return page += kPageAfter;
}

}  // namespace gf
