// The row that an answer of `analyze` or `energy` gives the rules of a publication: what the
// framework's runtime did, and where the energy went.
#include <fmt/format.h>

#include <cmath>

#include "analyze/claims/claims.h"
#include "analyze/energy/json_fields.h"

namespace gf {

namespace {

constexpr double kJoules = 1e-9;  // in a nanojoule

std::optional<JsonElement> first_of(const JsonElement& object, std::string_view list) {
  const auto items = json_items(object, list);
  if (items.empty()) return {};
  return items.front();
}

/// The execution mode of kernels on a CPU, as the study of DSD 2022 names it.
std::string mode_of(const JsonElement& runtime) {
  const auto modes = json_items(runtime, "modes");
  std::string_view mode;
  if (modes.size() != 1 || modes.front().get_string().get(mode)) return {};
  constexpr std::string_view kEager = "eager_";
  if (mode.starts_with(kEager)) mode.remove_prefix(kEager.size());
  return std::string(mode);
}

/// Adds the phases while the framework's queue was empty and while it was not, and its depth over
/// time.
void add_queue(const JsonElement& queue, FactRow& row) {
  for (const char* when : {"when_empty", "when_loaded"})
    for (const JsonElement& phase : json_items(queue, when))
      row.numbers[fmt::format("{}.{}", when, json_text(phase, "phase"))] =
          json_number(phase, "share");
  double begin = 0;
  for (const JsonElement& part : json_items(queue, "curve")) {
    const double start = json_number(part, "start_ns");
    if (row.lists.empty()) begin = start;
    row.lists["queue.at_ms"].push_back((start - begin) / 1e6);
    row.lists["queue.depth"].push_back(json_number(part, "mean"));
  }
}

/// Adds the length of each phase over all operations: on average, at least and at most.
void add_operations(const JsonElement& runtime, FactRow& row) {
  const auto all = first_of(runtime, "operations");
  if (!all) return;
  for (const JsonElement& phase : json_items(*all, "phases"))
    if (const auto spread = json_field(phase, "spread");
        spread && json_number(*spread, "count") > 0)
      row.numbers["operation." + json_text(phase, "phase")] = {
          json_number(*spread, "mean"), json_number(*spread, "min"), json_number(*spread, "max")};
  if (const auto mean = row.numbers.find("operation.cpu_kernel"); mean != row.numbers.end())
    row.numbers["operation_cpu_kernel_ns"] = mean->second.value;
}

/// Shares and times by phase; `items` of all steps together, 0: not known.
void add_runtime(const JsonElement& runtime, bool has_gpu, double items, FactRow& row) {
  const auto shares = json_field(runtime, "kernels");
  if (!shares) return;
  std::map<std::string, double> ns;
  for (const JsonElement& phase : json_items(runtime, "phases")) {
    const std::string name = json_text(phase, "phase");
    const double share = json_number(phase, "share");
    ns[name] = json_number(phase, "ns");
    if (has_gpu && share > 0) row.numbers["phases." + name] = share;
    if (!has_gpu) row.numbers[name] = share;
  }
  const double overhead = json_number(*shares, "overhead_ns");
  // Frameworks other than TensorFlow record no kernels of the CPU: then nothing is known of them.
  if (has_gpu && json_number(*shares, "cpu_kernel_ns") > 0)
    row.numbers["both"] = json_number(*shares, "both");
  if (has_gpu) row.numbers["kernel_share_percent"] = 100 * json_number(*shares, "gpu_kernel");
  if (items > 0 && has_gpu) row.numbers["overhead_us_per_item"] = overhead / items / 1e3;
  if (items > 0) {
    const double kernel = has_gpu ? ns["gpu_kernel"] : ns["cpu_kernel"];
    for (const std::string_view table : {"", "per_item:"}) {
      row.numbers[fmt::format("{}kernel_ns_per_item", table)] = kernel / items;
      row.numbers[fmt::format("{}overhead_ns_per_item", table)] = overhead / items;
    }
  }
  add_operations(runtime, row);
  // The scheduling queue of the framework; where it has none, the first one in front of a device.
  const auto queues = json_items(runtime, "queues");
  const auto holds = [](const JsonElement& queue) { return json_number(queue, "items") > 0; };
  auto chosen = std::ranges::find_if(queues, [&](const JsonElement& queue) {
    return holds(queue) && json_text(queue, "id") == "framework";
  });
  const bool scheduling = chosen != queues.end();
  if (!scheduling) chosen = std::ranges::find_if(queues, holds);
  if (chosen == queues.end()) return;
  row.numbers["empty"] = json_number(*chosen, "empty");
  add_queue(*chosen, row);
  if (!scheduling) row.words["queue"] = json_text(*chosen, "id");
  for (const char* phase : {"enqueue", "dequeue"})
    if (scheduling)
      row.numbers[fmt::format("{}_ns_per_op", phase)] = ns[phase] / json_number(*chosen, "items");
}

void add_energy(const JsonElement& device, FactRow& row) {
  row.numbers["joules"] = json_number(device, "nj") * kJoules;
  for (const JsonElement& part : json_items(device, "parts"))
    row.numbers[fmt::format("parts.{}.joules", json_text(part, "component"))] =
        json_number(part, "nj") * kJoules;
  const auto step = json_field(device, "step");
  if (!step || !step->is_object()) return;
  const double joules = json_number(*step, "joules");
  row.numbers["step.joules"] = joules;
  row.numbers["step.seconds"] = json_number(*step, "seconds");
  row.numbers["joules_per_call"] = joules;  // of a benchmark whose step is one call
}

FactRow row_of(const JsonElement& root, SweepRun run, const std::string& name) {
  FactRow row;
  row.name = name;
  row.words["table"] = kAnswerTable;
  const auto source = json_field(root, "source");
  if (source) read_axes_from_name(json_text(*source, "path"), run);
  const auto window = json_field(root, "window");
  const auto runtime = json_field(root, "runtime");
  const auto device = first_of(root, "devices");
  if (device) run.gpu = json_text(*device, "name");
  // Rows of the CPU alone have no framework, as in the tables of the study.
  if (!device)
    run.framework.clear();
  else if (run.framework.empty() && source)
    run.framework = json_text(*source, "framework");
  if (runtime && !device && run.mode.empty()) run.mode = mode_of(*runtime);
  double steps = 0;
  if (window) steps = static_cast<double>(json_items(*window, "steps").size());
  if (run.batch) row.numbers["batch"] = static_cast<double>(*run.batch);
  const double items = run.batch ? static_cast<double>(*run.batch) * steps : 0;
  if (runtime) add_runtime(*runtime, device.has_value(), items, row);
  if (const auto energy = json_field(root, "energy"))
    if (const auto measured = first_of(*energy, "devices")) {
      if (run.gpu.empty()) run.gpu = json_text(*measured, "name");
      add_energy(*measured, row);
    }
  std::erase_if(row.numbers, [](const auto& number) { return std::isnan(number.second.value); });
  for (const auto& axis : sweep_axes())
    if (!(run.*(axis.member)).empty()) row.words[std::string(axis.name)] = run.*(axis.member);
  return row;
}

}  // namespace

std::optional<FactRow> fact_of_answer(const std::string& json, const SweepRun& run,
                                      const std::string& name) {
  JsonReader reader;
  const auto root = reader.parse(json);
  const bool is_answer = root && json_field(*root, "window") &&
                         (json_field(*root, "runtime") || json_field(*root, "energy"));
  if (!is_answer) return {};
  return row_of(*root, run, name);
}

}  // namespace gf
