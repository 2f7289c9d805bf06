#include "import/torch_memory/pickle.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <unordered_map>
#include <utility>

namespace gf::torch_memory {
namespace {

// Operations of protocols 0 to 5 that make plain data (Python's Lib/pickletools.py).
enum Op : unsigned char {
  kMark = '(',
  kStop = '.',
  kPop = '0',
  kPopMark = '1',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kLong1 = 0x8a,
  kLong4 = 0x8b,
  kNone = 'N',
  kTrue = 0x88,
  kFalse = 0x89,
  kBinFloat = 'G',
  kText1 = 0x8c,
  kText4 = 'X',
  kText8 = 0x8d,
  kBytes1 = 'C',
  kBytes4 = 'B',
  kEmptyList = ']',
  kAppend = 'a',
  kAppends = 'e',
  kEmptyTuple = ')',
  kTuple = 't',
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kEmptyDict = '}',
  kSetItem = 's',
  kSetItems = 'u',
  kGet1 = 'h',
  kGet4 = 'j',
  kPut1 = 'q',
  kPut4 = 'r',
  kMemoize = 0x94,
  kProtocol = 0x80,
  kFrame = 0x95,
};

}  // namespace

class Unpickler {
 public:
  Unpickler(std::string_view content, std::size_t most) : content_(content), most_(most) {}

  Result<Pickle> run() {
    while (true) {
      const auto place = at_;
      std::uint64_t op = 0;
      if (!number(1, op)) return damage(place);
      if (op == kStop) {
        if (stack_.empty()) return damage(place);
        pickle_.root_ = stack_.back();
        return std::move(pickle_);
      }
      switch (carry_out(static_cast<unsigned char>(op))) {
        case Outcome::done:
          break;
        case Outcome::damaged:
          return damage(place);
        case Outcome::refused:
          return fail(
              fmt::format("is a pickle that asks for more than plain data (operation 0x{:02x}"
                          "), which is not carried out",
                          op),
              {}, static_cast<std::int64_t>(place),
              "give the file of torch.cuda.memory._dump_snapshot()");
      }
      if (pickle_.values_.size() > most_)
        return fail("contains more values than a memory snapshot has", {},
                    static_cast<std::int64_t>(place));
    }
  }

 private:
  enum class Outcome { done, damaged, refused };
  using Kind = Pickle::Kind;

  static Result<Pickle> damage(std::size_t place) {
    return fail("is a damaged pickle", {}, static_cast<std::int64_t>(place),
                "write the snapshot again; it may have been cut");
  }

  /// A little-endian number of so many bytes.
  bool number(std::size_t bytes, std::uint64_t& value) {
    if (content_.size() - at_ < bytes) return false;
    value = 0;
    for (std::size_t i = 0; i < bytes; ++i)
      value |= static_cast<std::uint64_t>(static_cast<unsigned char>(content_[at_ + i])) << (8 * i);
    at_ += bytes;
    return true;
  }
  Node add(Kind kind, std::int64_t integer = 0) {
    pickle_.values_.push_back({kind, integer});
    return static_cast<Node>(pickle_.values_.size() - 1);
  }
  Outcome push(Node node) {
    stack_.push_back(node);
    return Outcome::done;
  }
  Outcome push_number(std::size_t bytes, bool is_signed) {
    std::uint64_t value = 0;
    if (!number(bytes, value)) return Outcome::damaged;
    if (is_signed && bytes == 4)
      return push(add(Kind::integer, static_cast<std::int32_t>(static_cast<std::uint32_t>(value))));
    return push(add(Kind::integer, static_cast<std::int64_t>(value)));
  }
  /// Integers of any length; those beyond 64 bits are kept as none.
  Outcome push_long(std::size_t length_bytes) {
    std::uint64_t length = 0, value = 0;
    if (!number(length_bytes, length) || content_.size() - at_ < length) return Outcome::damaged;
    if (length > 8) {
      // An address above 2^63 has a ninth byte that is zero.
      const bool fits = length == 9 && content_[at_ + 8] == 0;
      if (!fits) {
        at_ += length;
        return push(add(Kind::none));
      }
      if (!number(8, value)) return Outcome::damaged;
      ++at_;
      return push(add(Kind::integer, static_cast<std::int64_t>(value)));
    }
    if (!number(length, value)) return Outcome::damaged;
    if (length > 0 && length < 8 && (value >> (8 * length - 1) & 1))
      value |= ~std::uint64_t{0} << (8 * length);
    return push(add(Kind::integer, static_cast<std::int64_t>(value)));
  }
  Outcome push_text(std::size_t length_bytes, bool keep) {
    std::uint64_t length = 0;
    if (!number(length_bytes, length) || content_.size() - at_ < length) return Outcome::damaged;
    if (keep) {
      pickle_.texts_.push_back(content_.substr(at_, length));
      stack_.push_back(add(Kind::text, static_cast<std::int64_t>(pickle_.texts_.size() - 1)));
    } else {
      stack_.push_back(add(Kind::none));
    }
    at_ += length;
    return Outcome::done;
  }
  Node container(Kind kind) {
    pickle_.lists_.emplace_back();
    return add(kind, static_cast<std::int64_t>(pickle_.lists_.size() - 1));
  }
  std::vector<Node>* items_of(Node node, Kind kind) {
    const auto& value = pickle_.values_[node];
    if (value.kind != kind) return nullptr;
    return &pickle_.lists_[static_cast<std::size_t>(value.integer)];
  }
  /// Moves what lies above a height of the stack into the container below it.
  Outcome fill(Kind kind, std::size_t from) {
    if (from == 0 || from > stack_.size()) return Outcome::damaged;
    auto* items = items_of(stack_[from - 1], kind);
    if (!items || (kind == Kind::dictionary && (stack_.size() - from) % 2 != 0))
      return Outcome::damaged;
    items->insert(items->end(), stack_.begin() + static_cast<std::ptrdiff_t>(from), stack_.end());
    stack_.resize(from);
    return Outcome::done;
  }
  Outcome tuple(std::size_t from) {
    if (from > stack_.size()) return Outcome::damaged;
    const Node node = container(Kind::list);
    items_of(node, Kind::list)
        ->assign(stack_.begin() + static_cast<std::ptrdiff_t>(from), stack_.end());
    stack_.resize(from);
    return push(node);
  }
  bool take_mark(std::size_t& height) {
    if (marks_.empty()) return false;
    height = marks_.back();
    marks_.pop_back();
    return height <= stack_.size();
  }
  Outcome get(std::size_t bytes) {
    std::uint64_t key = 0;
    if (!number(bytes, key)) return Outcome::damaged;
    const auto at = memo_.find(key);
    return at == memo_.end() ? Outcome::damaged : push(at->second);
  }
  Outcome put(std::uint64_t key) {
    if (stack_.empty()) return Outcome::damaged;
    memo_[key] = stack_.back();
    return Outcome::done;
  }
  Outcome put_numbered(std::size_t bytes) {
    std::uint64_t key = 0;
    return !number(bytes, key) ? Outcome::damaged : put(key);
  }
  Outcome skip(std::size_t bytes) {
    std::uint64_t ignored = 0;
    return !number(bytes, ignored) ? Outcome::damaged : Outcome::done;
  }
  Outcome top(std::size_t count, Outcome (Unpickler::*make)(std::size_t)) {
    return stack_.size() < count ? Outcome::damaged : (this->*make)(stack_.size() - count);
  }
  /// Puts the last `count` of the stack into what lies below them.
  Outcome fill_last(Kind kind, std::size_t count) {
    return stack_.size() <= count ? Outcome::damaged : fill(kind, stack_.size() - count);
  }
  Outcome fill_from_mark(Kind kind) {
    std::size_t mark = 0;
    return !take_mark(mark) ? Outcome::damaged : fill(kind, mark);
  }
  Outcome tuple_from_mark() {
    std::size_t mark = 0;
    return !take_mark(mark) ? Outcome::damaged : tuple(mark);
  }

  Outcome carry_out(unsigned char op) {
    switch (op) {
      case kProtocol:
        return skip(1);
      case kFrame:
        return skip(8);
      case kNone:
        return push(add(Kind::none));
      case kTrue:
      case kFalse:
        return push(add(Kind::boolean, op == kTrue));
      case kBinInt:
        return push_number(4, true);
      case kBinInt1:
        return push_number(1, false);
      case kBinInt2:
        return push_number(2, false);
      case kLong1:
        return push_long(1);
      case kLong4:
        return push_long(4);
      case kBinFloat:
        stack_.push_back(add(Kind::real));
        return skip(8);
      case kText1:
        return push_text(1, true);
      case kText4:
        return push_text(4, true);
      case kText8:
        return push_text(8, true);
      case kBytes1:
        return push_text(1, false);
      case kBytes4:
        return push_text(4, false);
      default:
        return carry_out_container(op);
    }
  }

  Outcome carry_out_container(unsigned char op) {
    std::size_t mark = 0;
    switch (op) {
      case kMark:
        marks_.push_back(stack_.size());
        return Outcome::done;
      case kPop:
        if (stack_.empty()) return Outcome::damaged;
        stack_.pop_back();
        return Outcome::done;
      case kPopMark:
        if (!take_mark(mark)) return Outcome::damaged;
        stack_.resize(mark);
        return Outcome::done;
      case kEmptyList:
      case kEmptyTuple:
        return push(container(Kind::list));
      case kEmptyDict:
        return push(container(Kind::dictionary));
      case kAppend:
        return fill_last(Kind::list, 1);
      case kSetItem:
        return fill_last(Kind::dictionary, 2);
      case kAppends:
        return fill_from_mark(Kind::list);
      case kSetItems:
        return fill_from_mark(Kind::dictionary);
      case kTuple:
        return tuple_from_mark();
      case kTuple1:
        return top(1, &Unpickler::tuple);
      case kTuple2:
        return top(2, &Unpickler::tuple);
      case kTuple3:
        return top(3, &Unpickler::tuple);
      case kGet1:
        return get(1);
      case kGet4:
        return get(4);
      case kPut1:
        return put_numbered(1);
      case kPut4:
        return put_numbered(4);
      case kMemoize:
        return put(memo_.size());
      default:
        return Outcome::refused;
    }
  }

  std::string_view content_;
  std::size_t most_, at_ = 0;
  Pickle pickle_;
  std::vector<Node> stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::uint64_t, Node> memo_;
};

Result<Pickle> Pickle::read(std::string_view content, std::size_t most) {
  return Unpickler(content, most).run();
}

Pickle::Kind Pickle::kind(Node node) const {
  return node >= values_.size() ? Kind::none : values_[node].kind;
}

std::optional<std::int64_t> Pickle::integer(Node node) const {
  if (kind(node) != Kind::integer && kind(node) != Kind::boolean) return std::nullopt;
  return values_[node].integer;
}

std::string_view Pickle::text(Node node) const {
  if (kind(node) != Kind::text) return {};
  return texts_[static_cast<std::size_t>(values_[node].integer)];
}

const std::vector<Node>& Pickle::items(Node node) const {
  static const std::vector<Node> kNone;
  if (kind(node) != Kind::list && kind(node) != Kind::dictionary) return kNone;
  return lists_[static_cast<std::size_t>(values_[node].integer)];
}

Node Pickle::at(Node dictionary, std::string_view key) const {
  if (kind(dictionary) != Kind::dictionary) return kNoNode;
  constexpr std::size_t kKeys = 64;  // more than any dictionary of a snapshot has
  const auto& all = items(dictionary);
  const auto size = std::min(all.size(), 2 * kKeys);
  for (std::size_t i = 0; i + 1 < size; i += 2)
    if (kind(all[i]) == Kind::text && text(all[i]) == key) return all[i + 1];
  return kNoNode;
}

}  // namespace gf::torch_memory
