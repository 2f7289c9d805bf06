#include "cli/ceilings_file.h"

#include <fmt/format.h>

#include "cli/shipped.h"
#include "core/read_file.h"

namespace gf::cli {

Result<std::optional<CeilingsFile>> find_ceilings(const std::string& asked,
                                                  const Capture& capture) {
  const std::string product = product_of(capture);
  std::string path = asked;
  if (path.empty() && !product.empty()) path = shipped_file("ceilings", ceilings_name(product));
  if (path.empty()) return std::nullopt;
  const auto text = read_small_file(path);
  if (!text) return tl::unexpected(text.error());
  auto file = parse_ceilings(*text, path);
  if (!file) return tl::unexpected(file.error());
  if (!product.empty() && !file->gpu.empty() && file->gpu != product)
    return fail(fmt::format("was measured on {}, and the capture is of {}", file->gpu, product),
                path, -1, "measure the ceilings on a GPU of the same kind");
  return std::optional<CeilingsFile>(std::move(*file));
}

}  // namespace gf::cli
