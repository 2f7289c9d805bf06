// The search for the shift between two clocks against least squares written out: dense, each class
// and sample by itself.
#include "analyze/kernel_rates/find_shift.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

namespace gf {
namespace {

struct Case {
  Capture capture;
  std::vector<Observation> samples;
  Intervals traced;
};

Case random_case() {
  Case out;
  const auto device = out.capture.device_row(0);
  const auto other = out.capture.device_row(1);
  const auto names = *rc::gen::inRange(1, 7);
  Nanos time = 5'000'000;
  for (int i = 0, count = *rc::gen::inRange(40, 200); i < count; ++i) {
    const auto row = out.capture.activities.add();
    out.capture.activities.start_ns[row] = time - *rc::gen::inRange(0, 40'000);
    out.capture.activities.duration_ns[row] = *rc::gen::inRange(0, 120'000);
    out.capture.activities.device[row] = device;
    if (*rc::gen::inRange(0, 12) == 0) out.capture.activities.device[row] = other;
    if (*rc::gen::inRange(0, 6) == 0) out.capture.activities.kind[row] = ActivityKind::memcpy;
    out.capture.activities.name[row] =
        out.capture.strings.intern("kernel_" + std::to_string(*rc::gen::inRange(0, names)));
    time += 20'000 + *rc::gen::inRange(0, 130'000);
  }
  out.traced = {{5'000'000, (5'000'000 + time) / 2}, {(5'000'000 + time) / 2 + 90'000, time}};
  const Nanos interval = (time - 5'000'000) / 180;
  for (Nanos at = 5'000'000 - 20 * interval; at < time + 20 * interval; at += interval)
    out.samples.push_back({{at, at + interval},
                           {static_cast<double>(*rc::gen::inRange(0, 1000)) / 1000,
                            static_cast<double>(*rc::gen::inRange(0, 1000)) * 7}});
  return out;
}

double overlap(const Capture& capture, std::uint32_t row, Interval span) {
  const Nanos start = capture.activities.start_ns[row],
              end = start + capture.activities.duration_ns[row];
  return static_cast<double>(
             std::max<Nanos>(std::min(end, span.end) - std::max(start, span.start), 0)) /
         static_cast<double>(span.length());
}

std::vector<double> written_out(const Case& one, const ClassTimes& classes, Nanos shift) {
  const auto width = static_cast<Eigen::Index>(classes.classes());
  std::vector<std::size_t> known;
  for (std::size_t i = 0; i < one.samples.size(); ++i)
    for (const auto& span : one.traced)
      if (one.samples[i].span.start + shift >= span.start &&
          one.samples[i].span.end + shift <= span.end)
        known.push_back(i);
  const auto rows = static_cast<Eigen::Index>(known.size());
  Eigen::MatrixXd shares = Eigen::MatrixXd::Zero(rows, width);
  Eigen::MatrixXd values(rows, 2);
  std::vector<double> out(one.samples.size(), std::nan(""));
  for (Eigen::Index i = 0; i < rows; ++i) {
    const auto& sample = one.samples[known[static_cast<std::size_t>(i)]];
    for (std::uint32_t row = 0; row < one.capture.activities.size(); ++row)
      if (classes.class_of()[row] != kNoRow)
        shares(i, classes.class_of()[row]) +=
            overlap(one.capture, row, {sample.span.start + shift, sample.span.end + shift});
    for (Eigen::Index metric = 0; metric < 2; ++metric)
      values(i, metric) = sample.values[static_cast<std::size_t>(metric)];
  }
  for (Eigen::Index metric = 0; metric < 2; ++metric) {
    double sum = 0, squares = 0;
    for (const auto& sample : one.samples) sum += sample.values[static_cast<std::size_t>(metric)];
    const double mean = sum / static_cast<double>(one.samples.size());
    for (const auto& sample : one.samples)
      squares += std::pow(sample.values[static_cast<std::size_t>(metric)] - mean, 2);
    values.col(metric) /= std::sqrt(squares / static_cast<double>(one.samples.size()));
  }
  const Eigen::MatrixXd left = values - shares * shares.colPivHouseholderQr().solve(values);
  for (Eigen::Index i = 0; i < rows; ++i)
    out[known[static_cast<std::size_t>(i)]] = left.row(i).squaredNorm() / 2;
  return out;
}

RC_GTEST_PROP(FindShift, ErrorsAreThoseOfLeastSquaresWrittenOut, ()) {
  const Case one = random_case();
  const ClassTimes classes(one.capture, 0, static_cast<std::size_t>(*rc::gen::inRange(3, 9)));
  RC_PRE(classes.classes() > 0);
  const Nanos shift = *rc::gen::inRange(-300'000, 300'000);
  const auto errors = shift_errors(one.samples, classes, one.traced, shift);
  RC_ASSERT(errors.size() == one.samples.size());
  // Fewer than 100 known samples are no fit.
  if (std::all_of(errors.begin(), errors.end(), [](double error) { return std::isnan(error); }))
    return;
  const auto truth = written_out(one, classes, shift);
  for (std::size_t i = 0; i < errors.size(); ++i) {
    RC_ASSERT(std::isnan(errors[i]) == std::isnan(truth[i]));
    if (!std::isnan(truth[i])) RC_ASSERT(std::abs(errors[i] - truth[i]) < 1e-2 * (1 + truth[i]));
  }
}

}  // namespace
}  // namespace gf
