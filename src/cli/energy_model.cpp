#include "cli/energy_model.h"

#include <fmt/format.h>

#include <filesystem>

#include "analyze/energy/model_file.h"

namespace gf::cli {

namespace {

std::string product_of(const Capture& capture) {
  for (std::size_t device = 0; device < capture.devices.size(); ++device)
    if (const auto name = capture.text(capture.devices.name[device]); !name.empty())
      return std::string(name);
  return {};
}

/// Models lie in share/energy beside a build folder, in share/gpufathom/energy where the program is
/// installed.
std::string shipped_model(const std::string& product) {
  std::error_code ignored;
  const auto here = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const char* folder : {"share/gpufathom/energy", "share/energy"})
    if (const auto file = here.parent_path() / folder / energy_model_name(product);
        std::filesystem::exists(file, ignored))
      return file.string();
  return {};
}

}  // namespace

Result<std::optional<EnergyModelFile>> find_energy_model(const std::string& asked,
                                                         const Capture& capture) {
  const std::string product = product_of(capture);
  std::string path;
  if (!asked.empty()) {
    path = asked;
  } else if (product.empty()) {
    path = std::string();
  } else {
    path = shipped_model(product);
  }
  if (path.empty()) return std::nullopt;
  auto read = read_energy_model(path);
  if (!read) return tl::unexpected(read.error());
  const EnergyModel& model = read->model;
  if (!product.empty() && !model.gpu.empty() && model.gpu != product)
    return fail(fmt::format("is a model of {}, and the capture is of {}", model.gpu, product), path,
                -1,
                "energies of one chip say nothing of another: calibrate on a GPU of the same kind");
  return std::move(*read);
}

}  // namespace gf::cli
