#include "cli/energy_model.h"

#include <fmt/format.h>

#include "analyze/energy/model_file.h"
#include "cli/shipped.h"

namespace gf::cli {

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

}  // namespace gf::cli
