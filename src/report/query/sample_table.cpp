#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <vector>

#include "model/counter_values.h"
#include "model/sqlite.h"
#include "report/query/virtual_table.h"

namespace gf {

namespace {

enum SampleColumn { kRow, kStart, kDuration, kDevice, kMetric, kValue };
/// The meaning of a condition that SQLite passes; a plan has their codes, four bits each, the first
/// lowest, and above them an order.
enum Condition { kDeviceIs = 1, kMetricIs, kStartFrom, kStartTo };
enum Order { kByRow, kByMetric, kByDeviceAndMetric, kByMetricAndDevice };
constexpr int kMostConditions = 6, kOrderShift = 4 * kMostConditions;

struct Source {
  std::shared_ptr<QuerySource> capture;
  const Capture* samples;
  bool ids;  // of metrics, as _counter_samples shows them, in place of their texts
};

struct Table : sqlite3_vtab {
  const Source* source;
};

/// Goes over the rows of the file, then block by block over what is packed; when an order is asked
/// for, once for each metric.
struct Cursor : sqlite3_vtab_cursor {
  BlockUnpacker unpacker;
  counter_samples_table unpacked;
  const counter_samples_table* rows = nullptr;  // those of counter_samples, or unpacked
  std::size_t next_block = 0, at = 0;
  std::int64_t passed = 0;           // values before those that rows came from
  std::int64_t first = 0, step = 1;  // row number of rows' first, and from one to the next
  Interval starts = kAllTime;        // both ends included
  CounterFilter filter;
  std::vector<CounterFilter> groups;  // still to come
  bool sifted = false;                // the filter takes the device and metric of all rows
  bool end = false;

  const Source& source() const { return *static_cast<const Table*>(pVtab)->source; }
  std::int64_t row() const { return first + static_cast<std::int64_t>(at) * step; }
  void rewind() {
    rows = &source().samples->counter_samples;
    next_block = at = 0;
    passed = first = 0;
    step = 1;
    sifted = end = false;
  }
  /// Moves on to a row that the conditions take, if this one is not.
  void settle() {
    while (!end) {
      for (; at < rows->size(); ++at)
        if (rows->start_ns[at] >= starts.start && rows->start_ns[at] <= starts.end &&
            (sifted || (filter.takes(rows->device[at]) && filter.takes(rows->metric[at]))))
          return;
      if (next_group_or_block()) continue;
      end = true;
    }
  }

 private:
  bool next_group_or_block() {
    const auto& blocks = source().samples->sample_blocks;
    const Interval span{starts.start, starts.end == kAllTime.end ? starts.end : starts.end + 1};
    passed +=
        static_cast<std::int64_t>(next_block == 0 ? rows->size() : blocks[next_block - 1].values);
    while (next_block < blocks.size() && !may_hold(blocks[next_block], {&span, 1}, filter))
      passed += static_cast<std::int64_t>(blocks[next_block++].values);
    if (next_block == blocks.size()) {
      if (groups.empty()) return false;
      filter = std::move(groups.back());
      groups.pop_back();
      rewind();
      return true;
    }
    const PackedBlock& block = blocks[next_block++];
    const auto& metrics = block.metrics;
    unpacked.clear();
    at = 0;
    first = passed;
    step = 1;
    // For one of several metrics, with every value there: their row numbers are known without the
    // others.
    sifted = filter.metrics.size() == 1 &&
             block.values == std::uint64_t{block.samples} * metrics.size() &&
             std::count(metrics.begin(), metrics.end(), filter.metrics[0]) == 1;
    if (sifted) {
      first += std::find(metrics.begin(), metrics.end(), filter.metrics[0]) - metrics.begin();
      step = static_cast<std::int64_t>(metrics.size());
      expand(unpacker.unpack(block, filter.metrics), unpacked);
    } else {
      expand(unpacker.unpack(block), unpacked);
    }
    rows = &unpacked;
    return true;
  }
};

/// One filter for each device and metric that the rows and blocks name and the filter takes, the
/// last to be visited first.
std::vector<CounterFilter> groups_of(const Capture& capture, const CounterFilter& filter,
                                     Order order) {
  std::set<std::pair<std::uint32_t, Text>> pairs;
  auto add = [&](std::uint32_t device, Text metric) {
    if (filter.takes(device) && filter.takes(metric))
      pairs.emplace(order == kByMetric ? 0 : device, metric);
  };
  for (std::size_t i = 0; i < capture.counter_samples.size(); ++i)
    add(capture.counter_samples.device[i], capture.counter_samples.metric[i]);
  for (const auto& block : capture.sample_blocks)
    for (const Text metric : block.metrics) add(block.device, metric);
  std::vector<std::pair<std::uint32_t, Text>> sorted(pairs.begin(), pairs.end());
  // As SQLite sorts: NULL, which is no device and no metric, comes first; kNoRow + 1 is 0.
  auto by_device = [](const auto& entry) { return entry.first + 1; };
  std::sort(sorted.begin(), sorted.end(), [&](const auto& left, const auto& right) {
    if (order == kByDeviceAndMetric && left.first != right.first)
      return by_device(left) > by_device(right);
    if (left.second != right.second) return capture.text(left.second) > capture.text(right.second);
    return by_device(left) > by_device(right);
  });
  std::vector<CounterFilter> groups;
  for (const auto& [device, metric] : sorted)
    groups.push_back({order == kByMetric ? filter.device : std::optional(device), {metric}});
  return groups;
}

/// The nearest whole number, at most or at least, that a condition on start_ns can mean; SQLite
/// looks again at what comes.
std::optional<std::int64_t> bound(sqlite3_value* value, bool from) {
  if (sqlite3_value_type(value) == SQLITE_INTEGER) return sqlite3_value_int64(value);
  if (sqlite3_value_type(value) != SQLITE_FLOAT) return {};
  double value_double = 0;
  if (from) {
    value_double = std::floor(sqlite3_value_double(value));
  } else {
    value_double = std::ceil(sqlite3_value_double(value));
  }
  if (!(std::abs(value_double) < 9e18)) return {};
  return static_cast<std::int64_t>(value_double);
}

void take_condition(Cursor& self, int condition, sqlite3_value* value) {
  if (condition == kStartFrom || condition == kStartTo) {
    const auto at = bound(value, condition == kStartFrom);
    if (at && condition == kStartFrom) self.starts.start = std::max(self.starts.start, *at);
    if (at && condition == kStartTo) self.starts.end = std::min(self.starts.end, *at);
  }
  if (condition == kDeviceIs && sqlite3_value_type(value) == SQLITE_INTEGER) {
    const auto device = sqlite3_value_int64(value);
    if (device < 0 || device >= kNoRow)
      self.end = true;
    else
      self.filter.device = static_cast<std::uint32_t>(device);
  }
  if (condition == kMetricIs && sqlite3_value_type(value) == SQLITE_TEXT) {
    const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
    const Text metric = self.source().samples->strings.find(
        {text, static_cast<std::size_t>(sqlite3_value_bytes(value))});
    if (metric == Text::none)
      self.end = true;
    else
      self.filter.metrics.push_back(metric);
  }
}

int connect(sqlite3* db, void* state, int, const char* const*, sqlite3_vtab** out, char**) {
  const auto* source = static_cast<const Source*>(state);
  const int code = sqlite3_declare_vtab(
      db, fmt::format("CREATE TABLE t(row INTEGER, start_ns INTEGER, duration_ns INTEGER, device "
                      "INTEGER, metric {}, value REAL)",
                      source->ids ? "INTEGER" : "TEXT")
              .c_str());
  if (code != SQLITE_OK) return code;
  return guarded([&] {
    auto* table = new Table{};
    table->source = source;
    *out = table;
    return SQLITE_OK;
  });
}

/// True if condition `i` compares with a text that stands in the statement.
bool is_with_text(sqlite3_index_info* info, int i) {
  sqlite3_value* value = nullptr;
  return sqlite3_vtab_rhs_value(info, i, &value) == SQLITE_OK &&
         sqlite3_value_type(value) == SQLITE_TEXT;
}

/// The order that a statement wants, when the cursor can give it.
std::optional<Order> order_of(const sqlite3_index_info& info, bool texts) {
  for (int i = 0; i < info.nOrderBy; ++i)
    if (info.aOrderBy[i].desc) return {};
  auto is = [&](int index, int column) {
    return info.nOrderBy > index && info.aOrderBy[index].iColumn == column;
  };
  if (info.nOrderBy == 1 && (is(0, -1) || is(0, kRow))) return kByRow;
  if (info.nOrderBy == 1 && is(0, kMetric) && texts) return kByMetric;
  if (info.nOrderBy == 2 && is(0, kDevice) && is(1, kMetric) && texts) return kByDeviceAndMetric;
  if (info.nOrderBy == 2 && is(0, kMetric) && is(1, kDevice) && texts) return kByMetricAndDevice;
  return {};
}

int best_index(sqlite3_vtab* table, sqlite3_index_info* info) {
  const Source& source = *static_cast<Table*>(table)->source;
  if (!source.capture->need_samples()) return SQLITE_ERROR;  // the source knows why
  const bool texts = !source.ids;
  int plan = 0, used = 0;
  bool has_metric = false;
  double rows = static_cast<double>(counter_value_count(*source.samples)) + 1;
  for (int i = 0; i < info->nConstraint && used < kMostConditions; ++i) {
    const auto& constraint = info->aConstraint[i];
    if (!constraint.usable) continue;
    const bool equal = constraint.op == SQLITE_INDEX_CONSTRAINT_EQ,
               from = constraint.op == SQLITE_INDEX_CONSTRAINT_GE ||
                      constraint.op == SQLITE_INDEX_CONSTRAINT_GT,
               to = constraint.op == SQLITE_INDEX_CONSTRAINT_LE ||
                    constraint.op == SQLITE_INDEX_CONSTRAINT_LT;
    int condition = 0;
    if (constraint.iColumn == kDevice && equal) {
      condition = kDeviceIs;
      rows /= 2;
    }
    if (constraint.iColumn == kMetric && equal && texts && !has_metric &&
        sqlite3_stricmp(sqlite3_vtab_collation(info, i), "BINARY") == 0) {
      condition = kMetricIs;
      rows /= 16;
      // The filter takes the values of this metric alone: SQLite need not compare each again.
      info->aConstraintUsage[i].omit = is_with_text(info, i);
      has_metric = true;
    }
    if (constraint.iColumn == kStart && from) {
      condition = kStartFrom;
      rows /= 16;
    }
    if (constraint.iColumn == kStart && to) {
      condition = kStartTo;
      rows /= 16;
    }
    if (condition == 0) continue;
    plan |= condition << (4 * used);
    info->aConstraintUsage[i].argvIndex = ++used;
  }
  // DISTINCT alone wants no order; over packed samples one is still the shortest way.
  const bool in_order = sqlite3_vtab_distinct(info) != 2 || !source.samples->sample_blocks.empty();
  const auto order = in_order ? order_of(*info, texts) : std::nullopt;
  info->orderByConsumed = order.has_value();
  info->idxNum = plan | order.value_or(kByRow) << kOrderShift;
  info->estimatedRows = static_cast<sqlite3_int64>(rows);
  info->estimatedCost = rows + 1000;
  return SQLITE_OK;
}

int filter(sqlite3_vtab_cursor* cursor, int plan, const char*, int count, sqlite3_value** values) {
  auto& at = *static_cast<Cursor*>(cursor);
  return guarded([&] {
    at.starts = kAllTime;
    at.filter = {};
    at.groups.clear();
    at.rewind();
    for (int i = 0; i < count; ++i) take_condition(at, plan >> (4 * i) & 15, values[i]);
    if (const auto order = static_cast<Order>(plan >> kOrderShift); order != kByRow && !at.end) {
      at.groups = groups_of(*at.source().samples, at.filter, order);
      at.end = at.groups.empty();
      if (!at.end) {
        at.filter = std::move(at.groups.back());
        at.groups.pop_back();
      }
    }
    at.settle();
    return SQLITE_OK;
  });
}

int next(sqlite3_vtab_cursor* cursor) {
  auto& at = *static_cast<Cursor*>(cursor);
  ++at.at;
  return guarded([&] {
    at.settle();
    return SQLITE_OK;
  });
}

int at_end(sqlite3_vtab_cursor* cursor) { return static_cast<Cursor*>(cursor)->end; }

int row_number(sqlite3_vtab_cursor* cursor, sqlite3_int64* out) {
  const auto& at = *static_cast<Cursor*>(cursor);
  *out = at.row();
  return SQLITE_OK;
}

int column(sqlite3_vtab_cursor* cursor, sqlite3_context* out, int number) {
  const auto& at = *static_cast<Cursor*>(cursor);
  switch (number) {
    case kRow:
      sqlite3_result_int64(out, at.row());
      break;
    case kStart:
      sqlite3_result_int64(out, at.rows->start_ns[at.at]);
      break;
    case kDuration:
      sqlite3_result_int64(out, at.rows->duration_ns[at.at]);
      break;
    case kDevice:
      if (at.rows->device[at.at] != kNoRow) sqlite3_result_int64(out, at.rows->device[at.at]);
      break;
    case kMetric:
      if (const Text metric = at.rows->metric[at.at]; metric == Text::none)
        break;
      else if (at.source().ids)
        sqlite3_result_int64(out, static_cast<std::int64_t>(metric));
      else if (const auto text = at.source().samples->text(metric); true)
        sqlite3_result_text64(out, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
      break;
    case kValue:
      sqlite3_result_double(out, at.rows->value[at.at]);
      break;  // NaN is NULL
    default:
      break;
  }
  return SQLITE_OK;
}

struct SampleTable {
  using State = Source;
  using Table = gf::Table;
  using Cursor = gf::Cursor;
  static constexpr auto connect = gf::connect;
  static constexpr auto plan = best_index;
  static constexpr auto filter = gf::filter;
  static constexpr auto next = gf::next;
  static constexpr auto ended = at_end;
  static constexpr auto value = column;
  static constexpr auto row = row_number;
};

}  // namespace

void show_samples(sqlite3* db, const std::shared_ptr<QuerySource>& source) {
  for (const bool ids : {false, true})
    add_virtual_table<SampleTable>(db, ids ? "_counter_samples" : "counter_samples",
                                   {source, &source->capture(), ids});
}

}  // namespace gf
