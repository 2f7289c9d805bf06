#include "session/shipped.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <filesystem>

#include "core/read_file.h"
#include "core/version.h"

namespace gf {

namespace {

namespace files = std::filesystem;

/// Name of the capture's first named GPU; empty when none has a name.
std::string product_of(const Capture& capture) {
  for (std::size_t device = 0; device < capture.devices.size(); ++device)
    if (const auto name = capture.text(capture.devices.name[device]); !name.empty())
      return std::string(name);
  return {};
}

/// The folder of what this code was linked into: the program, or libgpufathom.so in another one.
files::path own_folder() {
  static const char within = 0;
  Dl_info info{};
  link_map* linked = nullptr;
  std::string file = "/proc/self/exe";
  if (dladdr1(&within, &info, reinterpret_cast<void**>(&linked), RTLD_DL_LINKMAP) && linked &&
      linked->l_name && *linked->l_name)  // the program itself has no name there
    file = linked->l_name;
  std::error_code ignored;
  return files::canonical(file, ignored).parent_path();
}

/// Path of FOLDER/NAME where `cmake --install` put it, seen from the program or from the library,
/// in a wheel, or beside a build folder; empty when there is none.
std::string shipped_file(const std::string& folder, const std::string& name) {
  std::error_code ignored;
  const auto own = own_folder();
  if (own.empty()) return {};  // moved meanwhile: the working directory is not asked instead
  for (const char* share : {kProgramToData, kLibraryToData, "../share/gpufathom", "../share"})
    if (const auto file = own / share / folder / name; files::exists(file, ignored))
      return file.lexically_normal().string();
  return {};
}

}  // namespace

Result<std::optional<EnergyModelFile>> find_energy_model(const std::string& asked,
                                                         const Capture& capture) {
  const std::string product = product_of(capture);
  std::string path = asked;
  if (path.empty() && !product.empty()) path = shipped_file("energy", energy_model_name(product));
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

}  // namespace gf
