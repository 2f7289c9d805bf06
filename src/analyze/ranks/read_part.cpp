// Reads a part by its own declaration: what json.h writes, this takes back.
#include <simdjson.h>

#include <limits>
#include <type_traits>

#include "analyze/ranks/measure_rank.h"

namespace gf {

namespace {

namespace dom = simdjson::dom;

bool read(const dom::element& json, std::string& out) {
  std::string_view text;
  if (json.get_string().get(text)) return false;
  out = text;
  return true;
}

bool read(const dom::element& json, std::int64_t& out) { return !json.get_int64().get(out); }

template <NamedEnum E>
bool read(const dom::element& json, E& out) {
  std::string_view text;
  if (json.get_string().get(text)) return false;
  const auto value = enum_from<E>(text);
  if (value) out = *value;
  return value.has_value();
}

template <class T>
bool read(const dom::element& json, std::vector<T>& out);

template <Described T>
bool read(const dom::element& json, T& out) {
  dom::object object;
  if (json.get_object().get(object)) return false;
  bool sound = true;
  T::fields([&](const char* name, auto member, const char*) {
    dom::element value;
    if (object.at_key(name).get(value) || !read(value, out.*member)) sound = false;
  });
  return sound;
}

template <class T>
bool read(const dom::element& json, std::vector<T>& out) {
  dom::array list;
  if (json.get_array().get(list)) return false;
  out.reserve(list.size());
  for (const dom::element item : list)
    if (!read(item, out.emplace_back())) return false;
  return true;
}

/// Every column has the same rows, and every number names something.
class Checked {
 public:
  explicit Checked(const RankPart& part) : part_(part) {}

  bool sound() const {
    const auto& table = part_.collectives;
    const std::size_t rows = table.start_ns.size();
    bool even = true;
    PartCollectives::fields([&](const char*, auto member, const char*) {
      even = even && (table.*member).size() == rows;
    });
    return even && times_sound() &&
           numbers(table.type, 0, EnumNames<CollectiveType>::names.size()) &&
           numbers(table.group, -1, part_.groups.size()) &&
           numbers(table.step, -1, part_.steps.size()) &&
           numbers(table.kernel, 0, part_.texts.size()) && before_sound(rows) &&
           owners_sound(rows) && hosts_sound() && part_.start_ns >= -kLongest &&
           part_.start_ns <= kLongest;
  }

 private:
  static constexpr std::int64_t kLongest = std::int64_t{1} << 61;

  static bool numbers(const std::vector<std::int64_t>& column, std::int64_t least,
                      std::size_t count) {
    for (const auto number : column)
      if (number < least || number >= static_cast<std::int64_t>(count)) return false;
    return true;
  }
  bool times_sound() const {
    const auto& table = part_.collectives;
    for (std::size_t i = 0; i < table.start_ns.size(); ++i) {
      if (table.start_ns[i] < -kLongest || table.start_ns[i] > kLongest) return false;
      if (table.duration_ns[i] < 0 || table.duration_ns[i] > kLongest) return false;
      if (i > 0 && table.start_ns[i] < table.start_ns[i - 1]) return false;
    }
    return true;
  }
  bool before_sound(std::size_t rows) const {
    const auto& before = part_.before;
    return before.part.size() == before.collective.size() &&
           before.ns.size() == before.collective.size() && numbers(before.collective, 0, rows) &&
           numbers(before.part, 0, kRankTimes);
  }
  bool owners_sound(std::size_t rows) const {
    const auto& owners = part_.owners;
    const std::size_t count = owners.collective.size();
    return owners.part.size() == count && owners.op.size() == count &&
           owners.module.size() == count && owners.ns.size() == count &&
           numbers(owners.collective, 0, rows) && numbers(owners.part, 0, kRankTimes) &&
           numbers(owners.op, 0, part_.texts.size()) &&
           numbers(owners.module, 0, part_.texts.size());
  }

  bool hosts_sound() const {
    const auto& hosts = part_.hosts;
    bool even = true;
    PartHost::fields([&](const char*, auto member, const char*) {
      even = even && (hosts.*member).size() == hosts.step.size();
    });
    if (!even) return false;
    for (const auto* column : {&hosts.duration_ns, &hosts.blocked_ns, &hosts.input_ns,
                               &hosts.operators_ns, &hosts.other_ns})
      for (const Nanos time : *column)
        if (time < 0 || time > kLongest) return false;
    return numbers(hosts.input_op, -1, part_.texts.size()) &&
           numbers(hosts.other_op, -1, part_.texts.size());
  }

  const RankPart& part_;
};

}  // namespace

Result<RankPart> read_rank_part(std::string_view json, const std::string& path) {
  constexpr const char* kMapAgain = "make it again with gpufathom ranks --map";
  dom::parser parser;
  dom::element root;
  if (parser.parse(json.data(), json.size()).get(root))
    return fail("is no JSON of a rank, or only a piece of it", path, -1, kMapAgain);
  std::string_view schema;
  if (root["schema"].get_string().get(schema) || schema != "gpufathom.rank/2")
    return fail("holds no rank in the layout gpufathom.rank/2", path, -1, kMapAgain);
  RankPart part;
  if (!read(root, part) || !Checked(part).sound())
    return fail("holds a rank that contradicts itself", path, -1, kMapAgain);
  return part;
}

}  // namespace gf
