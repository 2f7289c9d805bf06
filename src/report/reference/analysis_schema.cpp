#include "analyze/claims/claims.h"
#include "analyze/ranks/names.h"
#include "analyze/ranks/nccl_dumps.h"
#include "analyze/result.h"
#include "analyze/sweep/sweep.h"
#include "analyze/work/result.h"
#include "report/json.h"
#include "report/reference/pages.h"

namespace gf {

namespace {

// The type of a value as a schema; one overload a kind of type.
template <class T>
struct Type;

template <class T>
void schema_of(std::string& out, std::string_view meaning, int depth) {
  Type<T>::write(out, meaning, depth);
}

void indent(std::string& out, int depth) {
  (out += '\n').append(static_cast<std::size_t>(depth), ' ');
}

void simple(std::string& out, std::string_view type, std::string_view meaning) {
  out += R"({"type": )";
  out += type;
  if (!meaning.empty()) json_string(out += R"(, "description": )", meaning);
  out += '}';
}

template <>
struct Type<std::string> {
  static void write(std::string& out, std::string_view meaning, int) {
    simple(out, R"("string")", meaning);
  }
};
template <NamedEnum E>
struct Type<E> {
  static void write(std::string& out, std::string_view meaning, int) {
    simple(out, R"("string")", meaning);
  }
};
template <NamedEnum E>
struct Type<std::optional<E>> {
  static void write(std::string& out, std::string_view meaning, int) {
    simple(out, R"(["string", "null"])", meaning);
  }
};
template <>
struct Type<bool> {
  static void write(std::string& out, std::string_view meaning, int) {
    simple(out, R"("boolean")", meaning);
  }
};
template <>
struct Type<double> {
  static void write(std::string& out, std::string_view meaning, int) {
    simple(out, R"(["number", "null"])", meaning);
  }
};
template <class T>
  requires std::is_integral_v<T>
struct Type<T> {
  static void write(std::string& out, std::string_view meaning, int) {
    simple(out, R"("integer")", meaning);
  }
};
template <class T>
  requires std::is_arithmetic_v<T>
struct Type<std::optional<T>> {
  static void write(std::string& out, std::string_view meaning, int) {
    simple(out, std::is_integral_v<T> ? R"(["integer", "null"])" : R"(["number", "null"])",
           meaning);
  }
};
template <class T>
struct Type<std::vector<T>> {
  static void write(std::string& out, std::string_view meaning, int depth) {
    json_string(out += R"({"type": "array", "description": )", meaning);
    out += R"(, "items": )";
    schema_of<T>(out, "", depth);
    out += '}';
  }
};
template <Described T>
struct Type<std::optional<T>> {
  static void write(std::string& out, std::string_view meaning, int depth) {
    out += R"({"anyOf": [{"type": "null"}, )";
    schema_of<T>(out, meaning, depth);
    out += "]}";
  }
};
template <Described T>
struct Type<T> {
  static void write(std::string& out, std::string_view meaning, int depth) {
    out += R"({"type": "object")";
    if (!meaning.empty()) json_string(out += R"(, "description": )", meaning);
    std::string required, properties;
    T::fields([&]<class C, class M>(const char* name, M C::*, const char* field_meaning) {
      json_string(required += (!required.empty() ? ", " : ""), name);
      property<M>(properties, name, field_meaning, depth + 1);
    });
    out += R"(, "required": [)" + required + R"(], "properties": {)" + properties;
    indent(out, depth);
    out += "}}";
  }
  template <class M>
  static void property(std::string& out, const char* name, const char* meaning, int depth) {
    if (!out.empty()) out += ',';
    indent(out, depth);
    json_string(out, name);
    out += ": ";
    schema_of<M>(out, meaning, depth);
  }
};

/// The schema of an answer whose name and version are `id`.
template <class Root>
std::string schema(const char* id, const char* about) {
  std::string body;
  schema_of<Root>(body, about, 0);
  return R"({"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": ")" +
         std::string(id) + R"(", )" + body.substr(1) + "\n";
}

}  // namespace

std::string analysis_schema() {
  return schema<Analysis>("gpufathom.analysis/1",
                          "The answer of `gpufathom analyze --format json`");
}

std::string ranks_schema() {
  return schema<JobRanks>("gpufathom.ranks/1", "The answer of `gpufathom ranks --format json`");
}

std::string nccl_dumps_schema() {
  return schema<NcclDumps>("gpufathom.nccl_dumps/1",
                           "The answer of `gpufathom ranks --format json` about dumps of "
                           "PyTorch's flight recorder");
}

std::string work_schema() {
  return schema<WorkUse>("gpufathom.work/1", "The answer of `gpufathom work --format json`");
}

std::string sweep_schema() {
  return schema<Sweep>("gpufathom.sweep/2",
                       "The answer of `gpufathom compare --axes … --format json`");
}

std::string reproduction_schema() {
  return schema<Reproduction>("gpufathom.reproduction/1",
                              "The answer of `gpufathom reproduce --format json`");
}

}  // namespace gf
