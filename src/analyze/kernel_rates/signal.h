// A function of time made of spans that each add a height, and its mean over any span.
#pragma once

#include <utility>
#include <vector>

#include "core/time.h"

namespace gf {

class Signal {
 public:
  void add(Interval span, double height);
  /// After the last span.
  void close();
  double mean(Interval span) const {
    return (upto(span.end) - upto(span.start)) / static_cast<double>(span.length());
  }

 private:
  double upto(Nanos time) const;
  std::vector<std::pair<Nanos, double>> steps_;
  std::vector<Nanos> at_;
  std::vector<double> areas_, heights_;
};

}  // namespace gf
