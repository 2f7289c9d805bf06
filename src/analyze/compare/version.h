// One version of a program, with all that a comparison takes of it.
#pragma once

#include "analyze/compare/compare.h"
#include "analyze/compare/measured_run.h"
#include "analyze/compare/run_facts.h"
#include "analyze/result.h"

namespace gf {

/// The capture with the middle step stands for its version in all tables.
struct ComparedVersion {
  Analysis analysis;
  RunFacts facts;
  RunDetails details;
  MeasuredVersion measured;  // all captures

  template <class Visit>
  static void fields(Visit&& visit) {
    visit("analysis", &ComparedVersion::analysis, "of the middle capture");
    visit("facts", &ComparedVersion::facts, "of the middle capture");
    visit("details", &ComparedVersion::details, "of the middle capture");
    visit("measured", &ComparedVersion::measured, "of all captures");
  }
};

}  // namespace gf
