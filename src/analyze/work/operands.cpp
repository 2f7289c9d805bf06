#include "analyze/work/operands.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace gf::work {
namespace {

struct ElementWord {
  std::string_view word;
  Element type;
};

// c10/util/typeid names of C++ types, and torch's own short names.
constexpr std::array kElementWords{
    ElementWord{"float", Element::fp32},
    ElementWord{"double", Element::fp64},
    ElementWord{"c10::BFloat16", Element::bf16},
    ElementWord{"c10::Half", Element::fp16},
    ElementWord{"c10::Float8_e4m3fn", Element::fp8},
    ElementWord{"c10::Float8_e5m2", Element::fp8},
    ElementWord{"c10::Float8_e4m3fnuz", Element::fp8},
    ElementWord{"c10::Float8_e5m2fnuz", Element::fp8},
    ElementWord{"long int", Element::int64},
    ElementWord{"long", Element::int64},
    ElementWord{"int", Element::int32},
    ElementWord{"short int", Element::int16},
    ElementWord{"short", Element::int16},
    ElementWord{"signed char", Element::int8},
    ElementWord{"char", Element::int8},
    ElementWord{"unsigned char", Element::int8},
    ElementWord{"bool", Element::boolean},
    ElementWord{"c10::complex<float>", Element::complex64},
    ElementWord{"c10::complex<double>", Element::complex128},
};

/// A value of a JSON array: numbers, texts and arrays of them. It lies in the list of its reader,
/// before what is inside it.
struct Json {
  std::string_view text;  // of a text or a number
  std::uint32_t size;     // values, with those inside it
  bool array;

  /// Goes over the values of an array, in order, without those inside them.
  class Items {
   public:
    explicit Items(const Json& around) : at_(&around + 1), end_(&around + around.size) {}
    bool empty() const { return at_ == end_; }
    /// The next one; nullptr behind the last.
    const Json* take() {
      if (empty()) return nullptr;
      return std::exchange(at_, at_ + at_->size);
    }

   private:
    const Json *at_, *end_;
  };
  Items items() const { return Items(*this); }
};

/// Reads a text; anything else than the above is none. What it read is there until it reads again.
class Reader {
 public:
  const Json* read(std::string_view text) {
    text_ = text;
    at_ = 0;
    all_.clear();
    all_.reserve(std::min<std::size_t>(1 + text.size() / 2, 64));  // two letters a value at least
    if (!take_value(0)) return nullptr;
    skip_space();
    return at_ == text_.size() ? all_.data() : nullptr;
  }

 private:
  static constexpr int kDeepest = 4;  // lists of tensors, of sizes

  void skip_space() {
    while (at_ < text_.size() && static_cast<unsigned char>(text_[at_]) <= ' ') ++at_;
  }
  bool take(char wanted) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  bool take_value(int depth) {
    skip_space();
    if (at_ >= text_.size() || depth > kDeepest) return false;
    if (text_[at_] == '[') return take_array(depth);
    const auto begin = at_ + (text_[at_] == '"');
    if (begin == at_) {
      while (at_ < text_.size() && text_[at_] != ',' && text_[at_] != ']') ++at_;
      all_.push_back({text_.substr(begin, at_ - begin), 1, false});
      return true;
    }
    for (++at_; at_ < text_.size() && text_[at_] != '"';) at_ += text_[at_] == '\\' ? 2u : 1u;
    if (at_ >= text_.size()) return false;
    all_.push_back({text_.substr(begin, at_++ - begin), 1, false});
    return true;
  }
  bool take_array(int depth) {
    const auto place = all_.size();
    all_.push_back({{}, 1, true});
    ++at_;
    if (take(']')) return true;
    do {
      if (!take_value(depth + 1)) return false;
    } while (take(','));
    all_[place].size = static_cast<std::uint32_t>(all_.size() - place);
    return take(']');
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<Json> all_;
};

std::optional<std::int64_t> whole(std::string_view text) {
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::int64_t> whole_numbers(const Json& json) {
  std::vector<std::int64_t> numbers;
  numbers.reserve(json.size);
  auto items = json.items();
  while (const Json* item = items.take()) {
    const auto number = item->array ? std::nullopt : whole(item->text);
    if (!number) return {};
    numbers.push_back(*number);
  }
  return numbers;
}

Tensor tensor_of(const Json& dims, const Json* strides, Element type) {
  Tensor tensor;
  tensor.dims = whole_numbers(dims);
  if (strides && strides->array) tensor.strides = whole_numbers(*strides);
  tensor.sparse = strides && strides->array && strides->items().empty() && !tensor.dims.empty();
  if (tensor.strides.size() != tensor.dims.size()) tensor.strides.clear();
  tensor.type = type;
  return tensor;
}

bool list_of_lists(const Json& json) {
  auto items = json.items();
  const Json* first = items.take();
  return json.array && first && first->array;
}

/// The values of an array; none of a null pointer.
Json::Items items_of(const Json* json) {
  static constexpr Json kNothing{{}, 1, true};
  return json ? json->items() : kNothing.items();
}

Input input_of(const Json& dims, std::string_view word, const Json* strides, const Json* value) {
  Input input;
  if (value && !value->array) input.value = value->text;
  if (list_of_lists(dims)) {  // tensors of one list; their type is said of none
    input.list = true;
    auto each = dims.items(), strides_of = items_of(strides);
    while (const Json* item = each.take())
      input.tensors.push_back(tensor_of(*item, strides_of.take(), Element::none));
    return input;
  }
  input.list = word == "TensorList" || word == "GenericList";
  const Element type = element_of(word);
  // A source without types (NVTX) gives sizes alone: what has sizes is a tensor.
  const bool sized = word.empty() && dims.array && !dims.items().empty();
  if (!input.list && (type != Element::none || sized))
    input.tensors.push_back(tensor_of(dims, strides, type));
  return input;
}

}  // namespace

Element element_of(std::string_view word) {
  for (const auto& known : kElementWords)
    if (known.word == word) return known.type;
  return Element::none;
}

std::int64_t bytes_of(Element type) {
  static constexpr std::array<std::int64_t, kElements> kBytes{4, 8, 4, 2, 2, 1,  8,
                                                              4, 2, 1, 1, 8, 16, 4};
  return kBytes[static_cast<std::size_t>(type)];
}

bool is_whole(Element type) { return type >= Element::int64 && type <= Element::boolean; }

std::string_view name_of(Element type) {
  static constexpr std::array<std::string_view, kElements> kNames{
      "",      "fp64",  "fp32", "fp16", "bf16",      "fp8",        "int64",
      "int32", "int16", "int8", "bool", "complex64", "complex128", "tf32"};
  return kNames[static_cast<std::size_t>(type)];
}

Element element_named(std::string_view name) {
  for (std::uint8_t number = 1; number <= static_cast<std::uint8_t>(Element::complex128); ++number)
    if (name_of(static_cast<Element>(number)) == name) return static_cast<Element>(number);
  return Element::none;
}

double Tensor::elements() const {
  double product = 1;
  for (const auto dim : dims) product *= static_cast<double>(dim < 0 ? 0 : dim);
  return product;
}

double Tensor::distinct() const {
  if (strides.empty()) return elements();
  double product = 1;
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (strides[i] != 0 || dims[i] == 0) product *= static_cast<double>(dims[i] < 0 ? 0 : dims[i]);
  return product;
}

const Tensor* Call::tensor(std::size_t i) const {
  if (i >= inputs.size() || inputs[i].list || inputs[i].tensors.size() != 1) return nullptr;
  return &inputs[i].tensors[0];
}

std::optional<std::int64_t> Call::number(std::size_t i) const {
  if (i >= inputs.size()) return std::nullopt;
  return whole(inputs[i].value);
}

std::vector<std::int64_t> Call::numbers(std::size_t i) const {
  if (i >= inputs.size()) return {};
  return numbers_of(inputs[i].value);
}

bool Call::flag(std::size_t i, std::size_t at, bool unknown) const {
  if (i >= inputs.size() || inputs[i].value.empty()) return unknown;
  std::string_view rest = inputs[i].value;
  for (std::size_t skipped = 0; skipped < at; ++skipped) {
    const auto comma = rest.find(',');
    if (comma == rest.npos) return unknown;
    rest.remove_prefix(comma + 1);
  }
  rest = rest.substr(0, rest.find(','));
  if (rest.find("True") != rest.npos || rest.find("true") != rest.npos) return true;
  if (rest.find("False") != rest.npos || rest.find("false") != rest.npos) return false;
  return unknown;
}

std::vector<const Tensor*> Call::tensors() const {
  std::vector<const Tensor*> all;
  all.reserve(inputs.size());
  for (const auto& input : inputs)
    for (const auto& tensor : input.tensors) all.push_back(&tensor);
  return all;
}

std::vector<Tensor> tensors_of(std::string_view dims, Element type) {
  std::vector<Tensor> tensors;
  Reader reader;
  const Json* json = reader.read(dims);
  if (!json || !json->array) return tensors;
  auto items = json->items();
  while (const Json* item = items.take()) tensors.push_back(tensor_of(*item, nullptr, type));
  return tensors;
}

std::vector<std::vector<double>> number_lists_of(std::string_view text) {
  std::vector<std::vector<double>> lists;
  Reader reader;
  const Json* json = reader.read(text);
  if (!json || !json->array) return lists;
  auto items = json->items();
  while (const Json* item = items.take()) {
    auto& list = lists.emplace_back();
    auto numbers = item->items();
    while (const Json* number = numbers.take()) {
      const auto* const end = number->text.data() + number->text.size();
      double value = 0;
      const auto [stop, error] = std::from_chars(number->text.data(), end, value);
      if (number->array || error != std::errc() || stop != end) return {};
      list.push_back(value);
    }
  }
  return lists;
}

std::vector<std::int64_t> numbers_of(std::string_view text) {
  Reader reader;
  const Json* json = reader.read(text);
  if (!json || !json->array) return {};
  return whole_numbers(*json);
}

CallTexts call_texts(const Capture& capture, std::uint32_t host_op) {
  const auto& ops = capture.host_ops;
  return {ops.name[host_op], ops.shapes[host_op], ops.types[host_op], ops.values[host_op],
          ops.strides[host_op]};
}

std::optional<Call> call_of(const Capture& capture, std::uint32_t host_op) {
  const auto& ops = capture.host_ops;
  if (ops.shapes[host_op] == Text::none) return std::nullopt;
  Reader of_dims, of_types, of_strides, of_values;
  const Json* dims = of_dims.read(capture.text(ops.shapes[host_op]));
  if (!dims || !dims->array) return std::nullopt;
  auto types = items_of(of_types.read(capture.text(ops.types[host_op])));
  auto strides = items_of(of_strides.read(capture.text(ops.strides[host_op])));
  auto values = items_of(of_values.read(capture.text(ops.values[host_op])));
  Call call;
  call.name = capture.text(ops.name[host_op]);
  std::size_t count = 0;
  for (auto each = dims->items(); each.take();) ++count;
  call.inputs.reserve(count);
  auto items = dims->items();
  while (const Json* item = items.take()) {
    const Json* word = types.take();
    call.inputs.push_back(
        input_of(*item, word ? word->text : std::string_view{}, strides.take(), values.take()));
  }
  return call;
}

}  // namespace gf::work
