// The ceilings of a GPU, as `gpufathom ceilings` measured it or as its data sheet has it.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/context.h"
#include "analyze/work/kernel_work.h"
#include "analyze/work/operands.h"
#include "analyze/work/result.h"
#include "core/describe.h"
#include "core/error.h"
#include "model/chips.h"

namespace gf {

/// One measured ceiling.
struct MeasuredCeiling {
  std::string id;    // as Ceiling::id
  std::string unit;  // FLOP/s or B/s
  double value = 0;
  std::string bench;  // microbenchmark that reached it
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("id", &MeasuredCeiling::id, "what is bounded");
    visit("unit", &MeasuredCeiling::unit, "FLOP/s or B/s");
    visit("value", &MeasuredCeiling::value, "the most, in a second");
    visit("bench", &MeasuredCeiling::bench, "microbenchmark that reached it");
  }
};

/// The file that `gpufathom ceilings -o` writes.
struct CeilingsFile {
  static constexpr const char* kSchema = "gpufathom.ceilings/1";
  std::string schema = kSchema;
  std::string gpu, driver, date;
  std::vector<MeasuredCeiling> ceilings;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("schema", &CeilingsFile::schema, "name and version of this layout");
    visit("gpu", &CeilingsFile::gpu, "product name");
    visit("driver", &CeilingsFile::driver, "driver version");
    visit("date", &CeilingsFile::date, "when");
    visit("ceilings", &CeilingsFile::ceilings, "what was measured");
  }
};

/// Errors: no such layout, a value that is no rate.
Result<CeilingsFile> parse_ceilings(std::string_view text, const std::string& path);
/// "NVIDIA-H200.ceilings.json"
std::string ceilings_name(std::string_view product);

/// Ceilings by a product's data sheet: dense tensor rates by type, FP32, device memory.
std::vector<Ceiling> stated_ceilings(const Product& product);
/// The measured ones (when there are any), and the stated ones of what was not measured.
std::vector<Ceiling> ceilings_of(const Product* product, const CeilingsFile* measured);
std::optional<double> ceiling(const std::vector<Ceiling>& ceilings, std::string_view id);

/// The data-sheet peak of products of a data type, dense, in operations a second.
std::optional<double> stated_peak(const Product& product, std::string_view number_type);

/// The same for one product, looked up once a data type.
class StatedPeaks {
 public:
  explicit StatedPeaks(const Product& product) : product_(product) {}
  std::optional<double> of(work::Element type) {
    auto& peak = known_[static_cast<std::size_t>(type)];
    if (!peak) peak = stated_peak(product_, name_of(type));
    return *peak;
  }

 private:
  const Product& product_;
  std::array<std::optional<std::optional<double>>, work::kElements> known_{};
};

}  // namespace gf

namespace gf::work {

// The peak that work is measured against.

/// The data type that a device's peak is of: the fastest that products of its kernels, [first,
/// last), ran in, at least 16 bits, in which every product could run.
std::string_view peak_type(const gf::Product& product, const WorkList& kernels, std::size_t first,
                           std::size_t last);

/// The device of a number in Context::devices as a product; nullptr when unknown.
const gf::Product* product_of(const Context& context, std::size_t number);

/// True if kernels could do so many operations in their time. If not, the sizes are those of
/// another run, or the GPU is not the one that is named.
bool is_possible(double flops, double peak, double kernel_ns);

}  // namespace gf::work
