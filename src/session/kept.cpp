#include "session/kept.h"

#include <fmt/format.h>

#include <exception>
#include <utility>

#include "core/files.h"
#include "core/packed.h"
#include "core/secrets.h"
#include "core/xxh64.h"
#include "model/counter_values.h"
#include "session/own_key.h"

namespace gf {

namespace {

constexpr std::string_view kName = "answer";

/// The energy model that ships for a product is another file, which may change by itself.
std::string key_of_model(const std::string& product) {
  const auto path = product.empty() ? "" : shipped_file("energy", energy_model_name(product));
  if (path.empty()) return {};
  const auto text = read_small_file(path);
  return text ? fmt::format("{:016x}", xxh64(*text)) : "unreadable";
}

/// Of an answer and of the rows that it was worked out from: of others it is not the user's.
std::uint64_t signature_of(const SecretKey& key, std::int64_t rows, std::string_view data) {
  Packer packer;
  packer.put(rows);
  return siphash(key, packer.take().append(data));
}

std::optional<Kept> answer_of(Capture capture, const std::string& path, std::int64_t rows,
                              const ImportOptions& how) {
  // A recording's size is that of its own file, and samples stand in for a report by their source.
  if (capture.bytes == 0 || capture.activities.empty() || holds_counter_values(capture))
    return std::nullopt;
  const auto key = own_key(OwnKey::make);
  if (!key) return std::nullopt;
  // As the file will be read.
  capture.set_metadata("imported_from", without_secrets(capture.path));
  capture.path = path;
  const auto loaded =
      join_measured(std::move(capture), {.trace = path, .threads = how.threads}, how.progress);
  if (!loaded || loaded->counters) return std::nullopt;
  Question question;
  question.brief = true;
  question.report_alone = true;
  question.progress = how.progress;
  auto answer = answer_question(*loaded, question);
  if (!answer || !answer->context) return std::nullopt;
  const std::string product = product_of(*answer->capture);
  answer->analysis.source.path.clear();  // as whoever opens it names it
  Packer packer;
  packer.put(product);
  packer.put(key_of_model(product));
  packer.put(answer->context->omitted.runtime);
  packer.put(answer->context->omitted.kernels);
  packer.put(answer->context->omitted.tenants);
  packer.put(answer->analysis);
  std::string data = packer.take();
  Packer signed_data;
  signed_data.put(signature_of(*key, rows, data));
  return Kept{std::string(kName), std::string(derived_by()), signed_data.take() + data};
}

}  // namespace

bool is_usual(const InputOptions& input, const Question& question) {
  const InputOptions plain;
  const Question usual;
  return input.counters.empty() && input.power.empty() && input.graphs.empty() &&
         input.zone.empty() && input.max_bytes == plain.max_bytes && question.brief &&
         question.max_rows == usual.max_rows && question.window == usual.window && !question.span &&
         question.devices.empty() && question.batch == usual.batch && question.model.empty() &&
         question.findings && !question.waiting && !question.own_rules;
}

std::optional<Kept> keep_answer(Capture capture, const std::string& path, std::int64_t rows,
                                const ImportOptions& how) {
  try {
    return answer_of(std::move(capture), path, rows, how);
  } catch (const std::exception&) {  // such as too little memory: the file is whole without it
    return std::nullopt;
  }
}

std::optional<KeptAnswer> kept_answer(const std::string& path) {
  const auto found = read_kept(path, kName, derived_by());
  const auto key = found ? own_key(OwnKey::read) : std::nullopt;
  if (!key) return std::nullopt;
  Unpacker<EnumNames> packed(found->data);
  KeptAnswer answer;
  std::uint64_t signature = 0;
  std::string product, model;
  if (!packed.get(signature) || signature != signature_of(*key, found->rows, packed.rest()) ||
      !packed.get(product) || !packed.get(model) || model != key_of_model(product) ||
      !packed.get(answer.omitted.runtime) || !packed.get(answer.omitted.kernels) ||
      !packed.get(answer.omitted.tenants) || !packed.get(answer.analysis) || !packed.rest().empty())
    return std::nullopt;
  answer.analysis.source.path = path;
  return answer;
}

}  // namespace gf
