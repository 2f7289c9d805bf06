// Checks what this machine and user can record, and says what to do about the rest.
#pragma once

#include <string>
#include <vector>

#include "core/describe.h"

namespace gf {

struct DoctorCheck {
  std::string name;    // driver, gpu 0, permission, gpm 0, pm_sampling 0, ...
  std::string status;  // ok, warning, missing
  std::string detail;  // what was found
  std::string advice;  // what to do; empty when nothing is wrong
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("name", &DoctorCheck::name, "what was looked at");
    visit("status", &DoctorCheck::status, "ok, warning or missing");
    visit("detail", &DoctorCheck::detail, "what was found");
    visit("advice", &DoctorCheck::advice, "what to do about it");
  }
};

struct DoctorReport {
  std::string schema = "gpufathom.doctor/1";
  std::vector<DoctorCheck> checks;
  std::vector<DoctorCheck> verbs;  // what each verb can do here
  std::vector<DoctorCheck> tools;  // which tool to take for which question
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("schema", &DoctorReport::schema, "name and version of this layout");
    visit("checks", &DoctorReport::checks, "what was looked at");
    visit("verbs", &DoctorReport::verbs, "what each verb can do here");
    visit("tools", &DoctorReport::tools,
          "which tool and metric to take for which question on this machine");
  }
};

/// Looks at everything; starts a sampling session of a moment on each GPU, which needs a second or
/// two.
DoctorReport examine();

}  // namespace gf
