#include "import/nsight_compute/rep_rules.h"

#include <array>
#include <cmath>
#include <protozero/pbf_reader.hpp>

namespace gf::ncu {

namespace {

using RuleType = protozero::pbf_wire_type;

std::string_view as_text(protozero::data_view value) { return {value.data(), value.size()}; }

/// A name of a list by its number; empty beyond the list.
template <std::size_t count>
std::string_view listed(const std::array<std::string_view, count>& names, std::uint64_t number) {
  return number < count ? names[number] : std::string_view();
}

/// One thing that a rule says: its words, and how much it estimates to gain.
void read_rule_item(protozero::pbf_reader item, RuleText& rule) {
  // As the CSV export spells them.
  constexpr std::array<std::string_view, 5> kKinds{"", "INF", "WRN", "ERR", "OPT"};
  constexpr std::array<std::string_view, 3> kSpeedups{"", "local", "global"};
  while (item.next()) {
    const auto tag = item.tag_and_type();
    if (tag == protozero::tag_and_type(1, RuleType::length_delimited)) {
      protozero::pbf_reader message = item.get_message();
      while (message.next())
        if (message.tag_and_type() == protozero::tag_and_type(1, RuleType::length_delimited))
          rule.description = as_text(message.get_view());
        else if (message.tag_and_type() == protozero::tag_and_type(2, RuleType::varint))
          rule.kind = listed(kKinds, message.get_uint64());
        else
          message.skip();
    } else if (tag == protozero::tag_and_type(10, RuleType::length_delimited)) {
      protozero::pbf_reader speedup = item.get_message();
      while (speedup.next())
        if (speedup.tag_and_type() == protozero::tag_and_type(1, RuleType::varint))
          rule.speedup_kind = listed(kSpeedups, speedup.get_uint64());
        else if (speedup.tag_and_type() == protozero::tag_and_type(2, RuleType::fixed64))
          rule.speedup = speedup.get_double();
        else
          speedup.skip();
    } else {
      item.skip();  // tables, charts, metrics to look at
    }
  }
}

}  // namespace

void read_rule(std::string_view bytes, std::vector<RuleText>& rules) {
  protozero::pbf_reader message(bytes.data(), bytes.size());
  RuleText rule;
  std::vector<protozero::data_view> bodies;
  while (message.next()) switch (message.tag_and_type()) {
      case protozero::tag_and_type(1, RuleType::length_delimited):
        rule.rule = as_text(message.get_view());
        break;
      case protozero::tag_and_type(3, RuleType::length_delimited):
        bodies.push_back(message.get_view());
        break;
      case protozero::tag_and_type(4, RuleType::length_delimited):
        rule.section = as_text(message.get_view());
        break;
      default:
        message.skip();  // 2: the name that is displayed
    }
  for (const auto& content : bodies) {
    protozero::pbf_reader body(content);
    while (body.next()) {
      if (body.tag_and_type() != protozero::tag_and_type(1, RuleType::length_delimited)) {
        body.skip();
        continue;
      }
      RuleText said = rule;
      read_rule_item(body.get_message(), said);
      if (!std::isfinite(said.speedup)) said.speedup = RuleText{}.speedup;
      if (!said.description.empty() || !std::isnan(said.speedup)) rules.push_back(said);
    }
  }
}

}  // namespace gf::ncu
