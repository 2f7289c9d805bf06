// The judged statements of a publication as text, as a page of Markdown and as words for the HTML
// page.
#pragma once

#include <string>
#include <vector>

#include "analyze/claims/claims.h"
#include "report/text/format.h"

namespace gf {

struct SaidRule {
  std::string verdict, text, shipped;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("verdict", &SaidRule::verdict, "holds, does not hold or not measured");
    visit("text", &SaidRule::text, "the rule and what was found");
    visit("shipped", &SaidRule::shipped, "what the tables that ship say of it; empty: nothing");
  }
};

/// A judged statement in words, the same wherever it is shown.
struct SaidClaim {
  std::string id, section, verdict, statement, original;
  std::vector<SaidRule> rules;
  std::vector<std::string> left_out;
  std::string needs;  // empty: all is measured
  ClaimVerdict kind = ClaimVerdict::not_measured;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("id", &SaidClaim::id, "number");
    visit("section", &SaidClaim::section, "where it is said");
    visit("verdict", &SaidClaim::verdict, "for people");
    visit("statement", &SaidClaim::statement, "what is said");
    visit("original", &SaidClaim::original, "the publication's numbers");
    visit("rules", &SaidClaim::rules, "its conditions");
    visit("left_out", &SaidClaim::left_out, "rows that were not judged");
    visit("needs", &SaidClaim::needs, "what is to be measured");
    visit("kind", &SaidClaim::kind, "the verdict");
  }
};

std::vector<SaidClaim> said_claims(const Reproduction& answer);
/// The publications one by one: what is stated, what `answers` say of it, and how to give runs.
std::string studies_text(const std::vector<Reproduction>& answers, const TextStyle& style);
/// Needs of the statements that were not measured, each once.
std::string needs_text(const Reproduction& answer);
/// "69 rows of FILE judge 10 statements: 5 hold, ..."
std::string reproduction_summary(const Reproduction& answer);

std::string reproduction_text(const Reproduction& answer, const TextStyle& style);
std::string reproduction_markdown(const Reproduction& answer);

}  // namespace gf
