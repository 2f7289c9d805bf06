#include "cli/ceilings_file.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace gf::cli {

namespace {

std::string product_of(const Capture& capture) {
  for (std::size_t device = 0; device < capture.devices.size(); ++device)
    if (const auto name = capture.text(capture.devices.name[device]); !name.empty())
      return std::string(name);
  return {};
}

/// In share/ceilings beside a build folder, in share/gpufathom/ceilings where the program is
/// installed.
std::string shipped(const std::string& product) {
  std::error_code ignored;
  const auto here = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const char* folder : {"share/gpufathom/ceilings", "share/ceilings"})
    if (const auto file = here.parent_path() / folder / ceilings_name(product);
        std::filesystem::exists(file, ignored))
      return file.string();
  return {};
}

}  // namespace

Result<std::optional<CeilingsFile>> find_ceilings(const std::string& asked,
                                                  const Capture& capture) {
  const std::string product = product_of(capture);
  std::string path = asked;
  if (path.empty() && !product.empty()) path = shipped(product);
  if (path.empty()) return std::nullopt;
  std::ifstream in(path, std::ios::binary);
  if (!in || std::filesystem::is_directory(path))
    return fail("cannot be read", path, -1,
                "--ceilings wants a file that `gpufathom ceilings -o` wrote");
  auto file = parse_ceilings(std::string{std::istreambuf_iterator<char>(in), {}}, path);
  if (!file) return tl::unexpected(file.error());
  if (!product.empty() && !file->gpu.empty() && file->gpu != product)
    return fail(fmt::format("was measured on {}, and the capture is of {}", file->gpu, product),
                path, -1, "measure the ceilings on a GPU of the same kind");
  return std::optional<CeilingsFile>(std::move(*file));
}

}  // namespace gf::cli
