// Proton's default output: a tree of scopes and kernels with the sums of each (hatchet), and the
// devices behind it. It has no times, so that it is read as a report of kernels.
#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text.h"
#include "import/formats.h"
#include "import/json_rows.h"
#include "import/trace_rows.h"

namespace gf::proton {

namespace {

constexpr std::string_view kFrame = "frame", kMetrics = "metrics", kChildren = "children";
constexpr std::pair<std::string_view, std::string_view> kMakers[] = {{"CUDA", "nvidia"},
                                                                     {"HIP", "amd"}};

class Tree {
 public:
  explicit Tree(Capture& capture) : c_(capture), devices_(capture) {}

  bool run(std::string_view text) {
    JsonWalk walk;
    return walk.run(
        text,
        [](std::string_view path) {
          return path.ends_with(kFrame) || path.ends_with(kMetrics) || is_device(path);
        },
        [&](std::string_view path, const JsonRow& row) {
          if (path.ends_with(kFrame))
            name_node(depth(path), row.text("name"));
          else if (path.ends_with(kMetrics))
            measure_node(depth(path), row);
          else
            describe_device(path, row);
        });
  }

 private:
  /// The parts of a node that were read: name, sums and children come in any order.
  struct Node {
    std::string name;
    bool named = false, measured = false;
    std::int64_t time = 0, count = 0, device = 0;
    std::string maker;
  };

  /// "CUDA.0".
  static bool is_device(std::string_view path) {
    return !path.starts_with(kChildren) && path.find('.') != path.npos;
  }
  static std::size_t depth(std::string_view path) {
    return static_cast<std::size_t>(std::ranges::count(path, '.'));
  }
  Node& node(std::size_t depth) {
    if (nodes_.size() <= depth) nodes_.resize(depth + 1);
    return nodes_[depth];
  }

  void name_node(std::size_t depth, std::string_view name) {
    node(depth).name = name;
    node(depth).named = true;
    add_when_whole(depth);
  }

  void measure_node(std::size_t depth, const JsonRow& row) {
    Node& of = node(depth);
    of.measured = true;
    of.time = row.decimal("time (ns)", 0).value_or(0);
    of.count = row.decimal("count", 0).value_or(0);
    of.device = row.integer("device_id", 0);
    of.maker = row.text("device_type");
    add_when_whole(depth);
  }

  void add_when_whole(std::size_t depth) {
    if (!node(depth).named || !node(depth).measured) return;
    add(std::exchange(node(depth), {}));
  }

  void add(const Node& kernel) {
    if (kernel.time < 0 || kernel.count < 0) return devices_.bad_row();
    if (kernel.count == 0) return;  // a scope: the values are those of the node alone
    if (devices_.device(kernel.device, vendor_of(kernel.maker)) == kNoRow)
      return devices_.bad_row();
    ++c_.events;
    auto& kernels = c_.report_kernels;
    const auto at = kernels.add();
    kernels.id[at] = static_cast<std::int64_t>(at);
    kernels.name[at] = c_.strings.intern(kernel.name);
    kernels.device[at] = kernel.device;
    kernels.launches[at] = kernel.count;
    kernels.duration_ns[at] = static_cast<double>(kernel.time) / static_cast<double>(kernel.count);
  }

  static std::string_view vendor_of(std::string_view type) {
    for (const auto& [maker, vendor] : kMakers)
      if (type == maker) return vendor;
    return {};
  }

  void describe_device(std::string_view path, const JsonRow& row) {
    const auto dot = path.find('.');
    std::int64_t number = -1;
    std::from_chars(path.data() + dot + 1, path.data() + path.size(), number);
    const auto device = devices_.device(number, vendor_of(path.substr(0, dot)));
    const auto units = row.integer("num_sms");
    if (device != kNoRow && units > 0 && units < 4096)
      c_.devices.sm_count[device] = static_cast<std::int32_t>(units);
  }

  Capture& c_;
  TraceRows devices_;
  std::vector<Node> nodes_;  // by depth, of the branch that is being read
};

}  // namespace

int sniff_tree(std::string_view, std::string_view head) {
  const auto has = [head](std::string_view part) { return contains(head, part); };
  return head.starts_with('[') && has("\"frame\"") && has("\"metrics\"") && has("\"children\"") ? 93
                                                                                                : 0;
}

Result<Capture> load_tree(const std::string& path, const ImportOptions& options) {
  return load_json_text(
      path, options, "proton_tree", [](std::string_view text, Capture& capture) -> Status {
        const bool whole = Tree(capture).run(text);
        if (!whole)
          capture.note_quality(QualityCode::truncated_json,
                               "the file ends early, or is damaged: what follows is missing");
        if (capture.report_kernels.empty() && !whole)
          return fail("is a profile of Proton that ends early, or is damaged", {}, -1,
                      "let the program end by itself, and copy the file again");
        if (capture.report_kernels.empty())
          return fail("holds no kernels of Proton", {}, -1,
                      "call proton.start() before the kernels run, and proton.finalize() behind "
                      "them");
        return {};
      });
}

}  // namespace gf::proton
