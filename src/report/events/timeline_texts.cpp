#include "report/events/timeline_texts.h"

#include "analyze/kernels/kernels.h"
#include "analyze/utilization/instances.h"
#include "model/kernel_name.h"

namespace gf {

TimelineTexts::TimelineTexts(const Context& context, TimelineData& data)
    : context_(context), capture_(context.capture), data_(data) {
  const auto instances = kernel_instances(context);
  layers_ = group_layers(context, instances);
  for (std::size_t i = 0; i < instances.size(); ++i)
    group_of_.emplace(instances[i].activity, layers_.group[i]);
}

std::int64_t TimelineTexts::text(std::string_view text) {
  if (text.empty()) return 0;
  const auto [at, added] =
      known_.try_emplace(std::string(text), static_cast<std::int64_t>(data_.texts.size()));
  if (added) data_.texts.emplace_back(text);
  return at->second;
}

std::int64_t TimelineTexts::text(Text id) {
  const auto [at, added] = known_ids_.try_emplace(static_cast<std::uint32_t>(id), 0);
  if (added) at->second = text(capture_.text(id));
  return at->second;
}

std::int64_t TimelineTexts::thing(std::uint32_t row) {
  const auto& a = capture_.activities;
  const auto name = static_cast<std::uint32_t>(a.name[row]);
  const Shape shape{name,           a.grid_x[row],    a.grid_y[row],
                    a.grid_z[row],  a.block_x[row],   a.block_y[row],
                    a.block_z[row], a.registers[row], a.shared_bytes[row]};
  const auto [at, added] = things_.try_emplace(shape, static_cast<std::int64_t>(things_.size()));
  if (!added) return at->second;
  TimelineThing thing;
  thing.full_name = std::string(capture_.text(a.name[row]));
  thing.name = thing.full_name;
  if (a.kind[row] == ActivityKind::kernel) thing.name = short_kernel_name(thing.full_name);
  if (thing.name == thing.full_name) thing.full_name.clear();
  thing.kind = std::string(name_of(a.kind[row]));
  thing.grid = dimensions_text(a.grid_x[row], a.grid_y[row], a.grid_z[row]);
  thing.block = dimensions_text(a.block_x[row], a.block_y[row], a.block_z[row]);
  thing.registers = a.registers[row];
  thing.shared_bytes = a.shared_bytes[row];
  data_.things.push_back(std::move(thing));
  return at->second;
}

std::int64_t TimelineTexts::site(std::uint32_t row) {
  const auto& from = context_.attribution;
  std::uint32_t op = 0;
  if (row < from.op.size() && from.op[row] != kNoRow)
    op = static_cast<std::uint32_t>(capture_.host_ops.name[from.op[row]]);
  const std::uint32_t module = row < from.module.size() ? from.module[row] : 0;
  const auto group = group_of_.find(row);
  const std::uint32_t layer = group == group_of_.end() ? kNoRow : group->second;
  const auto [at, added] =
      sites_.try_emplace({op, module, layer}, static_cast<std::int64_t>(sites_.size()));
  if (!added) return at->second;
  TimelineSite site;
  site.op = std::string(capture_.text(static_cast<Text>(op)));
  site.module = from.modules[module];
  if (row < from.layer.size()) site.type = name_of(from.layer[row]);
  if (layer != kNoRow) {
    const LayerRow& of = layers_.rows[layer];
    site.type = std::string(name_of(of.type));
    site.phase = std::string(name_of(of.phase));
    site.layer = of.name;
  }
  data_.sites.push_back(std::move(site));
  return at->second;
}

}  // namespace gf
