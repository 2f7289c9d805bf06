#include "report/reference/analysis_page.h"

#include <fmt/format.h>

#include <map>
#include <typeindex>
#include <typeinfo>
#include <vector>

#include "analyze/ranks/result.h"
#include "analyze/result.h"
#include "analyze/work/result.h"

namespace gf {

namespace {

constexpr const char* kHead = R"(# The JSON of analyze

<!-- Made by `./dev docs` from src/analyze/results/*.def: change that. -->

`gpufathom analyze TRACE --format json` prints one object, schema `gpufathom.analysis/1`. A key may
be added within a version and is never renamed or given another meaning. Times ending in `_ns` are
integers in nanoseconds; starts and ends are on the capture's clock. Shares are 0 to 1. `null` means
no data, which is never written as 0. The times of a list add up to the total beside it.
)";

constexpr const char* kWorkHead = R"(# The JSON of work

<!-- Made by `./dev docs` from src/analyze/results/work.def: change that. -->

`gpufathom work TRACE --format json` prints one object, schema `gpufathom.work/1`.
[work.md](work.md) says what the numbers mean, [json.md](json.md) what all answers have in common.
)";

constexpr const char* kRanksHead = R"(# The JSON of ranks

<!-- Made by `./dev docs` from src/analyze/results/ranks.def and rank_part.def: change those. -->

`gpufathom ranks FILE … --format json` prints one object, schema `gpufathom.ranks/1`, the first
below. `gpufathom ranks --map` prints one line for each rank, schema `gpufathom.rank/2`: `part` and
what follows it. [ranks.md](ranks.md) has the rules, [json.md](json.md) what all answers have in
common.
)";

/// Walks the declarations from the outermost struct on and writes one table a struct, each once, in
/// the order of first use.
class Pages {
 public:
  template <class T>
  std::string type_of() {
    if constexpr (requires {
                    typename T::value_type;
                    T().has_value();
                  })
      return type_of<typename T::value_type>() + " or null";
    else if constexpr (std::is_same_v<T, std::string>)
      return "text";
    else if constexpr (std::is_same_v<T, bool>)
      return "true or false";
    else if constexpr (std::is_integral_v<T>)
      return "integer";
    else if constexpr (std::is_floating_point_v<T>)
      return "number";
    else if constexpr (NamedEnum<T>)
      return "text";
    else if constexpr (requires { typename T::mapped_type; })
      return "object of " + type_of<typename T::mapped_type>() + " by name";
    else if constexpr (requires { typename T::value_type; })
      return "list of " + type_of<typename T::value_type>();
    else {
      static_assert(Described<T>);
      return link<T>();
    }
  }

  template <Described T>
  void write(const std::string& path) {
    names_.emplace(typeid(T), path);
    std::string table = fmt::format("\n## {}\n\n| key | type | meaning |\n|---|---|---|\n", path);
    const T sample{};
    path_ = path;
    each_field(sample, [&](const char* name, const auto& value, const char* meaning) {
      field_ = name;
      table += fmt::format("| {} | {} | {} |\n", name,
                           type_of<std::remove_cvref_t<decltype(value)>>(), meaning);
    });
    out_ += table;
    // Structs met for the first time in this one come right after it.
    auto pending = std::move(pending_);
    pending_.clear();
    for (auto& [name, write_it] : pending) (this->*write_it)(name);
  }

  /// The page of an answer: its own keys, and those of what it is made of.
  template <Described Root>
  static std::string page(const char* head, const std::string& root) {
    Pages pages;
    pages.root_ = root;
    pages.write<Root>(root);
    return head + std::move(pages.out_);
  }

  /// The page of an answer, and of another one that shares some of its structs.
  template <Described Root, Described Other>
  static std::string page(const char* head, const std::string& root, const std::string& other) {
    Pages pages;
    pages.root_ = root;
    pages.write<Root>(root);
    pages.write<Other>(other);
    return head + std::move(pages.out_);
  }

 private:
  template <Described T>
  std::string link() {
    auto known = names_.find(typeid(T));
    if (known == names_.end()) {
      std::string name = field_;
      if (path_ != root_) name = path_ + "." + field_;
      known = names_.emplace(typeid(T), name).first;
      pending_.emplace_back(name, &Pages::write<T>);
    }
    std::string anchor;
    for (char letter : known->second)
      if (letter != '.') anchor += letter;
    return fmt::format("[{}](#{})", known->second, anchor);
  }

  std::map<std::type_index, std::string> names_;
  std::vector<std::pair<std::string, void (Pages::*)(const std::string&)>> pending_;
  std::string out_, path_, field_, root_;
};

}  // namespace

std::string analysis_page() { return Pages::page<Analysis>(kHead, "analysis"); }
std::string ranks_page() { return Pages::page<JobRanks, RankPart>(kRanksHead, "ranks", "part"); }
std::string work_page() { return Pages::page<WorkUse>(kWorkHead, "work"); }

}  // namespace gf
