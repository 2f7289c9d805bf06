#include "capi/arrow.h"

#include <cerrno>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/json.h"
#include "report/query/kernel_facts.h"

namespace gf {

std::shared_ptr<const AttributedKernels> attributed_kernels(std::shared_ptr<const Capture> capture,
                                                            const Context& context) {
  auto out = std::make_shared<AttributedKernels>();
  const auto text = [&](Column<Text>& column, const std::optional<std::string>& value) {
    column.push_back(value ? out->texts.intern(*value) : Text::none);
  };
  const auto facts = kernel_facts(context);
  for (const KernelFacts& kernel : facts) {
    out->row.push_back(kernel.row);
    text(out->short_name, kernel.short_name);
    text(out->operation, kernel.operation);
    text(out->module, kernel.module);
    text(out->layer, kernel.layer);
    text(out->phase, kernel.phase);
    text(out->idle_cause, kernel.idle_cause);
    out->exclusive_ns.push_back(kernel.exclusive_ns.value_or(-1));
    out->idle_ns.push_back(kernel.idle_ns.value_or(-1));
  }
  out->activities.visit_pairs(capture->activities, [&](auto& mine, const auto& theirs) {
    for (const KernelFacts& kernel : facts)
      mine.push_back(theirs[static_cast<std::size_t>(kernel.row)]);
  });
  out->capture = std::move(capture);
  return out;
}

namespace {

/// One column (or the struct of all): what both its schema and its array are made of.
struct Node {
  std::string format, name;
  std::int64_t length = 0, nulls = 0;
  std::vector<const void*> buffers;
  std::vector<Node> children;
  std::vector<Node> dictionary;       // none or one
  std::shared_ptr<const void> owner;  // of the buffers
};

void fill(const Node& node, ArrowSchema& schema);
void fill(const Node& node, ArrowArray& array);

/// Texts as an Arrow "large utf8" array; bytes that are not UTF-8 become U+FFFD, as Arrow demands.
struct Texts {
  std::vector<std::int64_t> offsets{0};
  std::string bytes;
  void add(std::string_view text) {
    append_utf8(bytes, text);
    offsets.push_back(static_cast<std::int64_t>(bytes.size()));
  }
};

Node dictionary_of(std::shared_ptr<const Texts> texts);

/// Numbers the texts that a column uses, in order of their first row: a dictionary of its own, so
/// that categories of other columns are none of its.
class Coder {
 public:
  /// `text_of` gives the text of each of the `count` values.
  template <class TextOf>
  Coder(std::size_t count, TextOf text_of) : codes_(count, kNew), text_of_(std::move(text_of)) {}

  std::uint32_t code(std::size_t value) {
    std::uint32_t& code = codes_[value];
    if (code != kNew) return code;
    code = static_cast<std::uint32_t>(texts_->offsets.size() - 1);
    texts_->add(text_of_(value));
    return code;
  }
  std::shared_ptr<const Texts> texts() const { return texts_; }

 private:
  static constexpr std::uint32_t kNew = UINT32_MAX;
  std::vector<std::uint32_t> codes_;
  std::function<std::string_view(std::size_t)> text_of_;
  std::shared_ptr<Texts> texts_ = std::make_shared<Texts>();
};

/// The coder of a pool that outlives it.
std::shared_ptr<Coder> coder_of(const StringPool& pool) {
  return std::make_shared<Coder>(
      pool.size(), [&pool](std::size_t text) { return pool.view(static_cast<Text>(text)); });
}

/// The dictionaries of a table's texts: one a column, or `shared` by the batches of a stream.
struct TextSource {
  const StringPool& pool;
  std::shared_ptr<Coder> shared;
  std::shared_ptr<Coder> coder() const { return shared ? shared : coder_of(pool); }
};

/// Owns the null bitmap and the codes of texts, and keeps what owns the values.
struct ColumnOwner {
  std::shared_ptr<const void> values;
  std::vector<std::uint8_t> valid;
  std::vector<std::uint32_t> codes;
};

/// Unknown values have code 0, which the null bitmap hides.
template <class Declared>
Node coded_node(Node node, ColumnOwner& owner, const ColumnRef<Declared>& column, Coder& coder) {
  owner.codes.resize(column.column.size());
  for (std::size_t i = 0; i < column.column.size(); ++i)
    if (!is_unknown<Declared>(column.column[i]))
      owner.codes[i] = coder.code(static_cast<std::size_t>(column.column[i]));
  node.format = "I";
  node.buffers[1] = owner.codes.data();
  node.dictionary.push_back(dictionary_of(coder.texts()));
  return node;
}

template <class Declared>
Node column_node(const std::shared_ptr<const void>& values, const ColumnRef<Declared>& column_ref,
                 const TextSource& texts) {
  using T = ValueOf<Declared>;
  Node node;
  node.name = column_ref.info.name;
  node.length = static_cast<std::int64_t>(column_ref.column.size());
  auto owner = std::make_shared<ColumnOwner>(
      ColumnOwner{values, std::vector<std::uint8_t>((column_ref.column.size() + 7) / 8, 0), {}});
  for (std::size_t i = 0; i < column_ref.column.size(); ++i) {
    const bool null = is_unknown<Declared>(column_ref.column[i]);
    node.nulls += null;
    if (!null) owner->valid[i / 8] |= static_cast<std::uint8_t>(1u << (i % 8));
  }
  node.buffers = {node.nulls > 0 ? owner->valid.data() : nullptr, column_ref.column.data()};
  node.owner = owner;
  if constexpr (std::is_same_v<T, I64>)
    node.format = "l";
  else if constexpr (std::is_same_v<T, I32>)
    node.format = "i";
  else if constexpr (std::is_same_v<T, U32>)
    node.format = "I";
  else if constexpr (std::is_same_v<T, U8>)
    node.format = "C";
  else if constexpr (std::is_same_v<T, F64>)
    node.format = "g";
  else if constexpr (std::is_same_v<T, Text>)
    return coded_node(std::move(node), *owner, column_ref, *texts.coder());
  else {
    Coder names(EnumNames<T>::names.size(),
                [](std::size_t value) { return EnumNames<T>::names[value]; });
    return coded_node(std::move(node), *owner, column_ref, names);
  }
  return node;
}

/// One batch: all rows of a table, which `owner` keeps.
template <class Table>
Node table_node(const std::shared_ptr<const void>& owner, const Table& table,
                const TextSource& texts) {
  Node node{"+s", "", static_cast<std::int64_t>(table.size()), 0, {nullptr}, {}, {}, owner};
  table.each_column_ref(
      [&](const auto& column) { node.children.push_back(column_node(owner, column, texts)); });
  return node;
}

/// Gives the next batch, or false at the end.
using NextBatch = std::function<bool(ArrowArray&)>;

constexpr std::int64_t kNullable = 2;  // ARROW_FLAG_NULLABLE

void release_schema(ArrowSchema* schema) {
  for (std::int64_t i = 0; i < schema->n_children; ++i) {
    if (schema->children[i]->release) schema->children[i]->release(schema->children[i]);
    delete schema->children[i];
  }
  if (schema->dictionary) {
    if (schema->dictionary->release) schema->dictionary->release(schema->dictionary);
    delete schema->dictionary;
  }
  delete[] schema->children;
  delete static_cast<std::pair<std::string, std::string>*>(schema->private_data);
  schema->release = nullptr;
}

void fill(const Node& node, ArrowSchema& schema) {
  auto* texts = new std::pair(node.format, node.name);
  schema = {texts->first.c_str(),
            texts->second.c_str(),
            nullptr,
            kNullable,
            static_cast<std::int64_t>(node.children.size()),
            nullptr,
            nullptr,
            release_schema,
            texts};
  schema.children = new ArrowSchema*[node.children.size()];
  for (std::size_t i = 0; i < node.children.size(); ++i)
    fill(node.children[i], *(schema.children[i] = new ArrowSchema));
  if (!node.dictionary.empty()) fill(node.dictionary[0], *(schema.dictionary = new ArrowSchema));
}

struct ArrayData {
  std::vector<const void*> buffers;
  std::shared_ptr<const void> owner;
};

void release_array(ArrowArray* array) {
  for (std::int64_t i = 0; i < array->n_children; ++i) {
    if (array->children[i]->release) array->children[i]->release(array->children[i]);
    delete array->children[i];
  }
  if (array->dictionary) {
    if (array->dictionary->release) array->dictionary->release(array->dictionary);
    delete array->dictionary;
  }
  delete[] array->children;
  delete static_cast<ArrayData*>(array->private_data);
  array->release = nullptr;
}

void fill(const Node& node, ArrowArray& array) {
  auto* data = new ArrayData{node.buffers, node.owner};
  array = {node.length,
           node.nulls,
           0,
           static_cast<std::int64_t>(data->buffers.size()),
           static_cast<std::int64_t>(node.children.size()),
           data->buffers.data(),
           nullptr,
           nullptr,
           release_array,
           data};
  array.children = new ArrowArray*[node.children.size()];
  for (std::size_t i = 0; i < node.children.size(); ++i)
    fill(node.children[i], *(array.children[i] = new ArrowArray));
  if (!node.dictionary.empty()) fill(node.dictionary[0], *(array.dictionary = new ArrowArray));
}

Node dictionary_of(std::shared_ptr<const Texts> texts) {
  Node node{"U",
            "",
            static_cast<std::int64_t>(texts->offsets.size()) - 1,
            0,
            {nullptr, texts->offsets.data(), texts->bytes.data()},
            {},
            {},
            nullptr};
  node.owner = std::move(texts);
  return node;
}

struct Stream {
  Node table;
  NextBatch more;
  bool given = false;
  std::string error;

  void next(ArrowArray& out) {
    if (!std::exchange(given, true)) return fill(table, out);
    if (!more || !more(out)) out = {};  // released: the end of the stream
  }
};

Stream& state_of(ArrowArrayStream* stream) { return *static_cast<Stream*>(stream->private_data); }

/// A stream of `table` as its first batch, and of what `more` gives after it.
void make_stream(Node table, NextBatch more, ArrowArrayStream& stream) {
  stream.private_data = new Stream{std::move(table), std::move(more), false, {}};
  stream.get_schema = [](ArrowArrayStream* self, ArrowSchema* out) {
    fill(state_of(self).table, *out);
    return 0;
  };
  stream.get_next = [](ArrowArrayStream* self, ArrowArray* out) {
    try {
      state_of(self).next(*out);
      return 0;
    } catch (const std::exception& thrown) {  // none crosses the C border
      state_of(self).error = thrown.what();
      return ENOMEM;
    }
  };
  stream.get_last_error = [](ArrowArrayStream* self) -> const char* {
    const auto& error = state_of(self).error;
    if (error.empty()) return nullptr;
    return error.c_str();
  };
  stream.release = [](ArrowArrayStream* self) {
    delete &state_of(self);
    self->release = nullptr;
  };
}

/// The texts of samples of all batches: a stream has one dictionary a column.
TextSource texts_of_samples(const Capture& capture) {
  const auto coder = coder_of(capture.strings);
  for (const auto text : capture.counter_samples.metric)
    coder->code(static_cast<std::size_t>(text));
  for (const auto& block : capture.sample_blocks)
    for (const auto text : block.metrics) coder->code(static_cast<std::size_t>(text));
  return {capture.strings, coder};
}

/// The packed samples, unpacked a batch at a time.
NextBatch packed_samples(std::shared_ptr<const Capture> capture, TextSource texts) {
  constexpr std::uint64_t kBatch = 1 << 20;  // values
  auto unpacker = std::make_shared<BlockUnpacker>();
  return [=, next = std::size_t{0}](ArrowArray& out) mutable {
    const auto& blocks = capture->sample_blocks;
    if (next == blocks.size()) return false;
    auto rows = std::make_shared<counter_samples_table>();
    for (; next < blocks.size() && (rows->empty() || rows->size() + blocks[next].values <= kBatch);
         ++next)
      expand(unpacker->unpack(blocks[next]), *rows);
    fill(table_node(rows, *rows, texts), out);
    return true;
  };
}

}  // namespace

bool table_stream(std::shared_ptr<const Capture> capture, std::string_view name,
                  ArrowArrayStream& stream) {
  const bool samples = name == counter_samples_table::kName;
  const TextSource texts =
      samples ? texts_of_samples(*capture) : TextSource{capture->strings, nullptr};
  Node table;
  bool found = false;
  capture->each_table([&](const auto& each) {
    if (each.kName != name) return;
    found = true;
    table = table_node(capture, each, texts);
  });
  if (!found) return false;
  NextBatch more;
  if (samples) more = packed_samples(std::move(capture), texts);
  make_stream(std::move(table), std::move(more), stream);
  return true;
}

std::optional<TableShape> table_shape(const Capture& capture, std::string_view name) {
  std::optional<TableShape> shape;
  const auto take = [&](const auto& table) {
    shape.emplace().rows = static_cast<std::int64_t>(table.size());
    table.each_column_ref(
        [&](const auto& column) { shape->columns.emplace_back(column.info.name); });
  };
  const bool kernels = name == "kernels";
  capture.each_table([&](const auto& each) {
    if (each.kName == (kernels ? activities_table::kName : name)) take(each);
  });
  if (kernels) {
    const auto& activities = capture.activities;
    shape->rows = 0;
    for (std::size_t row = 0; row < activities.size(); ++row)
      shape->rows += activities.kind[row] == ActivityKind::kernel;
    AttributedKernels{}.each_fact_ref(
        [&](const auto& column) { shape->columns.emplace_back(column.info.name); });
  }
  if (name == counter_samples_table::kName)
    for (const auto& block : capture.sample_blocks)
      shape->rows += static_cast<std::int64_t>(block.values);
  return shape;
}

void kernels_stream(const std::shared_ptr<const AttributedKernels>& kernels,
                    ArrowArrayStream& stream) {
  Node table =
      table_node(kernels, kernels->activities, TextSource{kernels->capture->strings, nullptr});
  const TextSource texts{kernels->texts, nullptr};
  kernels->each_fact_ref(
      [&](const auto& column) { table.children.push_back(column_node(kernels, column, texts)); });
  make_stream(std::move(table), {}, stream);
}

}  // namespace gf
