// What this machine and user can record, and what to do about the rest.
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
  static constexpr auto fields() {
    using C = DoctorCheck;
    return std::tuple{field("name", &C::name, "what was looked at"),
                      field("status", &C::status, "ok, warning or missing"),
                      field("detail", &C::detail, "what was found"),
                      field("advice", &C::advice, "what to do about it")};
  }
};

struct DoctorReport {
  std::string schema = "gpufathom.doctor/1";
  std::vector<DoctorCheck> checks;
  std::vector<DoctorCheck> verbs;  // what each verb can do here
  static constexpr auto fields() {
    using D = DoctorReport;
    return std::tuple{field("schema", &D::schema, "name and version of this layout"),
                      field("checks", &D::checks, "what was looked at"),
                      field("verbs", &D::verbs, "what each verb can do here")};
  }
};

/// Looks at everything; starts a sampling session of a moment on each GPU, which needs a second or
/// two.
DoctorReport examine();

}  // namespace gf
