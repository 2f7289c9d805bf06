#include "report/query/sql_functions.h"

#include <memory>
#include <new>
#include <vector>

#include "core/statistics.h"

namespace gf {

namespace {

struct Values {
  std::vector<double> values;
  double q = 0.5;
};

/// SQLite keeps one zeroed pointer for each group.
Values** group(sqlite3_context* context, bool create) {
  return static_cast<Values**>(sqlite3_aggregate_context(context, create ? sizeof(Values*) : 0));
}

void step(sqlite3_context* context, int arguments, sqlite3_value** argument) {
  Values** at = group(context, true);
  if (!at) return sqlite3_result_error_nomem(context);
  const auto most = *static_cast<const std::uint64_t*>(sqlite3_user_data(context));
  try {
    if (!*at) *at = new Values;
    if (arguments == 2) (*at)->q = sqlite3_value_double(argument[1]);
    const int type = sqlite3_value_numeric_type(argument[0]);
    if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) return;
    if ((*at)->values.size() >= most / sizeof(double)) return sqlite3_result_error_nomem(context);
    (*at)->values.push_back(sqlite3_value_double(argument[0]));
  } catch (const std::bad_alloc&) {
    sqlite3_result_error_nomem(context);
  }
}

void finish(sqlite3_context* context) {
  Values** at = group(context, false);
  const std::unique_ptr<Values> values(at ? *at : nullptr);
  if (at) *at = nullptr;
  if (!values || values->values.empty()) return sqlite3_result_null(context);
  if (!(values->q >= 0 && values->q <= 1))
    return sqlite3_result_error(context, "quantile requires a share from 0 to 1", -1);
  sqlite3_result_double(context, quantile(std::move(values->values), values->q));
}

}  // namespace

void add_sql_functions(sqlite3* db, std::uint64_t max_bytes) {
  const auto forget = [](void* most) { delete static_cast<std::uint64_t*>(most); };
  constexpr int kFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
  sqlite3_create_function_v2(db, "median", 1, kFlags, new std::uint64_t(max_bytes), nullptr, step,
                             finish, forget);
  sqlite3_create_function_v2(db, "quantile", 2, kFlags, new std::uint64_t(max_bytes), nullptr, step,
                             finish, forget);
}

}  // namespace gf
