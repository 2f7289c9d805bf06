// verdict_rates SEED [PAIRS]: how often the engine of verdicts (src/analyze/compare/verdict.h) is
// right, on simulated captures of known truth: JSON on standard output. bench/verdict_rates.py runs
// it and keeps the table (docs/lab/gate.md).
//
// verdict_rates judge LIMIT: the verdict about each line of standard input, one a line ("failed",
// "ok" or "undecided", the ratio and its 95 % interval). A line is the captures of either version,
// "|" between them: PLACE:STEP,STEP,... each, by their place in the order of recording.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/compare/verdict.h"

namespace {

using gf::MeasuredSide;
using gf::StepTimes;

/// A machine, on which captures run one after the other.
class Machine {
 public:
  explicit Machine(std::uint64_t seed) : random_(seed) {}
  double normal() { return normal_(random_); }
  double uniform() { return uniform_(random_); }
  double student3() {
    double square = 0;
    for (int i = 0; i < 3; ++i) square += std::pow(normal(), 2);
    return normal() / std::sqrt(square / 3);
  }
  double drifted = 0;  // since the session began

 private:
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> uniform_;
};

using Noise = std::function<std::vector<double>(Machine&, std::size_t steps)>;  // logarithms

std::vector<double> white(Machine& machine, std::size_t steps, double spread) {
  std::vector<double> out(steps);
  for (auto& value : out) value = spread * machine.normal();
  return out;
}

Noise autoregression(double memory) {
  return [memory](Machine& machine, std::size_t steps) {
    constexpr double kSpread = 0.01;
    std::vector<double> out(steps);
    double value = kSpread * machine.normal();
    for (auto& each : out) {
      each = value;
      value = memory * value + std::sqrt(1 - memory * memory) * kSpread * machine.normal();
    }
    return out;
  };
}

Noise two_clocks(double change) {
  return [change](Machine& machine, std::size_t steps) {
    bool slow = machine.uniform() < 0.5;
    auto out = white(machine, steps, 0.002);
    for (auto& value : out) {
      if (machine.uniform() < change) slow = !slow;
      value += slow ? std::log(1.03) : 0;
    }
    return out;
  };
}

std::vector<double> drift(Machine& machine, std::size_t steps) {
  constexpr double kByCapture = 0.005;
  auto out = white(machine, steps, 0.003);
  for (auto& value : out) value += machine.drifted += kByCapture / static_cast<double>(steps);
  return out;
}

std::vector<double> warm_up(Machine& machine, std::size_t steps) {
  auto out = white(machine, steps, 0.003);
  for (std::size_t i = 0; i < steps; ++i) out[i] += 0.2 * std::exp(-static_cast<double>(i) / 3);
  return out;
}

std::vector<double> heavy_tails(Machine& machine, std::size_t steps) {
  std::vector<double> out(steps);
  for (auto& value : out) value = 0.006 * machine.student3();
  return out;
}

/// Half of the captures have one step that takes 30 times as long.
std::vector<double> hiccups(Machine& machine, std::size_t steps) {
  auto out = white(machine, steps, 0.003);
  if (machine.uniform() < 0.5)
    out[static_cast<std::size_t>(machine.uniform() * static_cast<double>(steps))] += std::log(30.0);
  return out;
}

/// Every fourth step takes half as long again: the program's own way, on both sides.
std::vector<double> every_fourth(Machine& machine, std::size_t steps) {
  auto out = white(machine, steps, 0.003);
  for (std::size_t i = 3; i < steps; i += 4) out[i] += std::log(1.5);
  return out;
}

struct Scenario {
  const char* name;
  Noise noise;
};

const std::vector<Scenario>& scenarios() {
  static const std::vector<Scenario> all{
      {"white noise, 1 %",
       [](Machine& machine, std::size_t steps) { return white(machine, steps, 0.01); }},
      {"autoregression 0.85", autoregression(0.85)},
      {"autoregression 0.95", autoregression(0.95)},
      {"two clocks, 3 % apart, that change every 20 steps", two_clocks(0.05)},
      {"two clocks, 3 % apart, that change every 200 steps", two_clocks(0.005)},
      {"drift, 0.5 % a capture", drift},
      {"warm-up", warm_up},
      {"heavy tails", heavy_tails},
      {"hiccups of 30 times", hiccups},
      {"every fourth step +50 %", every_fourth},
  };
  return all;
}

struct Design {
  std::size_t captures;
  bool in_turns;
};

struct Told {
  int slower = 0, faster = 0, no_difference = 0, undecided = 0;
  int failed = 0, ok = 0, open = 0;                       // limit of 1 %
  int failed_coarse = 0, ok_coarse = 0, open_coarse = 0;  // of 3 %
};

void count(gf::CheckOutcome outcome, int& failed, int& ok, int& open) {
  ++(outcome == gf::CheckOutcome::failed ? failed : outcome == gf::CheckOutcome::ok ? ok : open);
}

Told simulate(const Scenario& scenario, std::size_t steps, const Design& design, double change,
              int pairs, std::uint64_t seed) {
  constexpr double kFromRunToRun = 0.002, kStep = 1e6;
  Machine machine(seed);
  Told told;
  for (int pair = 0; pair < pairs; ++pair) {
    MeasuredSide sides[2];
    machine.drifted = 0;
    const std::size_t all = 2 * design.captures;
    for (std::size_t at = 0; at < all; ++at) {
      const bool after = design.in_turns ? at % 2 == 1 : at >= design.captures;
      const double run = kFromRunToRun * machine.normal() + (after ? std::log1p(change) : 0);
      StepTimes values = scenario.noise(machine, steps);
      for (auto& value : values) value = kStep * std::exp(value + run);
      sides[after].captures.push_back(std::move(values));
      sides[after].recorded_at.push_back(static_cast<double>(at));
    }
    const auto measured = gf::measure_ratio(sides[0], sides[1]);
    if (!measured) std::abort();
    switch (gf::verdict_of(*measured)) {
      case gf::ComparedVerdict::slower:
        ++told.slower;
        break;
      case gf::ComparedVerdict::faster:
        ++told.faster;
        break;
      case gf::ComparedVerdict::no_difference:
        ++told.no_difference;
        break;
      default:
        ++told.undecided;
    }
    count(gf::against_limit(*measured, 0.01), told.failed, told.ok, told.open);
    count(gf::against_limit(*measured, 0.03), told.failed_coarse, told.ok_coarse, told.open_coarse);
  }
  return told;
}

MeasuredSide parse_side(const std::string& text) {
  MeasuredSide side;
  std::istringstream captures(text);
  for (std::string capture; captures >> capture;) {
    const auto colon = capture.find(':');
    side.recorded_at.push_back(std::stod(capture.substr(0, colon)));
    std::istringstream steps(capture.substr(colon + 1));
    StepTimes times;
    for (std::string step; std::getline(steps, step, ',');) times.push_back(std::stod(step));
    side.captures.push_back(std::move(times));
  }
  return side;
}

void judge_lines(double limit) {
  for (std::string line; std::getline(std::cin, line);) {
    const auto bar = line.find('|');
    const auto measured =
        gf::measure_ratio(parse_side(line.substr(0, bar)), parse_side(line.substr(bar + 1)));
    if (!measured)
      fmt::print("undecided\n");
    else
      fmt::print("{} {} {} {}\n", gf::name_of(gf::against_limit(*measured, limit)), measured->ratio,
                 measured->low, measured->high);
  }
}

}  // namespace

int main(int words, char** given) {
  if (words < 2) return 2;
  if (given[1] == std::string_view("judge")) {
    judge_lines(words > 2 ? std::atof(given[2]) : 0.01);
    return 0;
  }
  const std::uint64_t seed = std::strtoull(given[1], nullptr, 10);
  const int pairs = words > 2 ? std::atoi(given[2]) : 1000;
  const Design designs[] = {{1, true}, {2, true}, {4, true}, {4, false}};
  fmt::print("[");
  std::uint64_t cell = 0;
  for (const auto& scenario : scenarios())
    for (const std::size_t steps : {12u, 40u, 100u})
      for (const auto& design : designs)
        for (const double change : {0.0, 0.03, 0.06}) {
          const Told told =
              simulate(scenario, steps, design, change, pairs, seed * 1'000'003 + cell);
          fmt::print(
              "{}\n{{\"noise\": \"{}\", \"steps\": {}, \"captures\": {}, \"in_turns\": {}, "
              "\"change\": {}, \"pairs\": {}, \"slower\": {}, \"faster\": {}, \"no_difference\": "
              "{}, \"undecided\": {}, \"limit_1\": [{}, {}, {}], \"limit_3\": [{}, {}, {}]}}",
              cell++ > 0 ? "," : "", scenario.name, steps, design.captures, design.in_turns, change,
              pairs, told.slower, told.faster, told.no_difference, told.undecided, told.failed,
              told.ok, told.open, told.failed_coarse, told.ok_coarse, told.open_coarse);
        }
  fmt::print("\n]\n");
}
