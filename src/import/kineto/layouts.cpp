#include "import/kineto/layouts.h"

#include <algorithm>

#include "import/kineto/fields.h"
#include "import/kineto/rows.h"

namespace gf::kineto {

namespace {

// Limit on what hostile files can make this remember.
constexpr std::size_t kMostNodes = 1024;
constexpr int kMostLessons = 4096;

// Unread members whose numbers mostly are the same for an operation or a launch.
constexpr std::string_view kSettled[] = {"cbid", "queued", "blocks per SM", "warps per SM"};

/// True if a value differs from one event to the next like it.
bool moves(LayoutNode::Next next, Field field, std::string_view key) {
  switch (field) {
    case Field::name:
      return next == LayoutNode::Next::string;
    case Field::ts:
    case Field::dur:
    case Field::id:
    case Field::external_id:
    case Field::correlation:
    case Field::sequence:
    case Field::graph_node:
    case Field::python_id:
    case Field::python_parent:
    case Field::collective_sequence:
    case Field::wait_on_correlation:
    case Field::address:
    case Field::allocation_bytes:
    case Field::total_allocated:
    case Field::total_reserved:
    case Field::counter_value:
      return next == LayoutNode::Next::scalar;
    case Field::count:
      return next == LayoutNode::Next::scalar &&
             std::ranges::find(kSettled, key) == std::end(kSettled);
    default:
      return false;
  }
}

/// An event cut into the bytes between its values.
class Lesson {
 public:
  Lesson(const char* at, const char* end) : at_(at), end_(end), from_(at) {}

  /// The next place; false at what is not to be learned. The last one's `next` is the end.
  bool next(LayoutNode& node) {
    node = LayoutNode{};
    for (;;) {
      at_ = skip_space(at_);
      if (at_ >= end_) return false;
      if (*at_ == '{' && at_ == from_) {
        ++at_;
      } else if (*at_ == ',') {
        ++at_;
      } else if (*at_ == '}') {
        ++at_;
        if (!in_args_) return finish(node, LayoutNode::Next::end, Field::count);
        in_args_ = false;
      } else if (!member(node)) {
        return false;
      } else if (node.size > 0) {
        return true;
      }
    }
  }

 private:
  /// A key and its value. Without a size: its value belongs to the bytes.
  bool member(LayoutNode& node) {
    if (*at_ != '"') return false;
    const char* const key = at_ + 1;
    const char* const stop = string_stop(key);
    if (*stop != '"') return false;
    at_ = skip_space(stop + 1);
    if (*at_ != ':') return false;
    at_ = skip_space(at_ + 1);
    const std::string_view name(key, static_cast<std::size_t>(stop - key));
    if (!in_args_ && name == "args") {  // else than as an object they would begin like one
      in_args_ = *at_ == '{';
      ++at_;
      return in_args_;
    }
    const Field field = in_args_ ? args_field(name) : event_field(name);
    if (*at_ == '"') return text(node, field);
    if (field == Field::ph || field == Field::cat) return false;  // such values are no layout
    if (*at_ != '[' && *at_ != '{') return finish(node, LayoutNode::Next::scalar, field, name);
    return finish(node, LayoutNode::Next::container, field);
  }
  bool text(LayoutNode& node, Field field) {
    const char* const close = string_stop(at_ + 1);
    if (*close != '"') return false;
    const auto from = at_ + 1 - from_, size = close - at_ - 1;
    if (field != Field::ph && field != Field::cat) {
      ++at_;
      return finish(node, LayoutNode::Next::string, field);
    }
    if (node.told_count == node.told.size() || from + size > std::ptrdiff_t{LayoutNode::kLongest})
      return false;
    node.told[node.told_count++] = {field, static_cast<std::uint8_t>(from),
                                    static_cast<std::uint8_t>(size)};
    at_ = close + 1;
    return true;
  }
  /// The bytes up to here are the node's; goes on behind the value.
  bool finish(LayoutNode& node, LayoutNode::Next next, Field field, std::string_view key = {}) {
    const auto size = static_cast<std::size_t>(at_ - from_);
    if (size == 0 || size > LayoutNode::kLongest) return false;
    std::memcpy(node.bytes, from_, size);
    node.size = static_cast<std::uint32_t>(size);
    node.next = next;
    node.field = field;
    node.moves = moves(next, field, key);
    from_ = at_;
    const char* stop = at_;
    if (next == LayoutNode::Next::string) stop = string_stop(at_);
    if (next == LayoutNode::Next::scalar) stop = scalar_stop(at_);
    if (next == LayoutNode::Next::container) stop = container_end(at_, end_);
    if (!stop || (next == LayoutNode::Next::scalar && stop == at_)) return false;
    from_ = at_ = stop;
    if (next == LayoutNode::Next::string) ++at_;  // its closing quote begins the next bytes
    return true;
  }

  const char *at_, *end_, *from_;
  bool in_args_ = false;
};

bool same(const LayoutNode& left, const LayoutNode& right) {
  return left.size == right.size && left.next == right.next && left.field == right.field &&
         std::memcmp(left.bytes, right.bytes, left.size) == 0;
}

bool same(const Event& left, const Event& right) {
  if (left.present != right.present || left.duplicates != right.duplicates) return false;
  for (std::size_t i = 0; i < kFields; ++i)
    if (const auto field = static_cast<Field>(i); left.has(field))
      if (left[field].data != right[field].data || left[field].size != right[field].size ||
          left[field].kind != right[field].kind)
        return false;
  return true;
}

}  // namespace

LayoutNode* Layouts::add(LayoutNode& parent, const LayoutNode& node) {
  for (std::uint8_t i = 0; i < parent.children; ++i)
    if (same(*parent.child[i], node)) return parent.child[i];
  if (parent.children == LayoutNode::kMostChildren || nodes_.size() == kMostNodes) return nullptr;
  LayoutNode* const added = &nodes_.emplace_back(node);
  if (!parent.likely) parent.likely = added;
  return parent.child[parent.children++] = added;
}

void Layouts::learn(const char* at, const char* end, const Event& event) {
  if (!trusted_ || event.duplicates > 0 || lessons_ == kMostLessons) return;
  ++lessons_;
  Lesson lesson(at, end);
  LayoutNode* place = &root_;
  for (LayoutNode node; place && lesson.next(node);) {
    if (node.next == LayoutNode::Next::end) {
      node.present = event.present;
      node.category = category_of(event.text(Field::cat));
      place = add(*place, node);
      break;
    }
    place = add(*place, node);
  }
  // A layout that is read otherwise than it was taught would be a mistake here.
  Event again;
  if (read(at, end, again) && !same(again, event)) trusted_ = false;
}

}  // namespace gf::kineto
