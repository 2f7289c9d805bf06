#include "capi/arrow.h"

#include <cerrno>
#include <cmath>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "report/json.h"

namespace gf {

namespace {

constexpr std::int64_t kNullable = 2;  // ARROW_FLAG_NULLABLE

/// One column (or the struct of all): what both its schema and its array are made of.
struct Node {
  std::string format, name;
  std::int64_t length = 0, nulls = 0;
  std::vector<const void*> buffers;
  std::vector<Node> children;
  std::vector<Node> dictionary;       // none or one
  std::shared_ptr<const void> owner;  // of the buffers
};

void release_schema(ArrowSchema* s) {
  for (std::int64_t i = 0; i < s->n_children; ++i) {
    if (s->children[i]->release) s->children[i]->release(s->children[i]);
    delete s->children[i];
  }
  if (s->dictionary) {
    if (s->dictionary->release) s->dictionary->release(s->dictionary);
    delete s->dictionary;
  }
  delete[] s->children;
  delete static_cast<std::pair<std::string, std::string>*>(s->private_data);
  s->release = nullptr;
}

void fill(const Node& n, ArrowSchema& s) {
  auto* texts = new std::pair(n.format, n.name);
  s = {texts->first.c_str(),
       texts->second.c_str(),
       nullptr,
       kNullable,
       static_cast<std::int64_t>(n.children.size()),
       nullptr,
       nullptr,
       release_schema,
       texts};
  s.children = new ArrowSchema*[n.children.size()];
  for (std::size_t i = 0; i < n.children.size(); ++i)
    fill(n.children[i], *(s.children[i] = new ArrowSchema));
  if (!n.dictionary.empty()) fill(n.dictionary[0], *(s.dictionary = new ArrowSchema));
}

struct ArrayData {
  std::vector<const void*> buffers;
  std::shared_ptr<const void> owner;
};

void release_array(ArrowArray* a) {
  for (std::int64_t i = 0; i < a->n_children; ++i) {
    if (a->children[i]->release) a->children[i]->release(a->children[i]);
    delete a->children[i];
  }
  if (a->dictionary) {
    if (a->dictionary->release) a->dictionary->release(a->dictionary);
    delete a->dictionary;
  }
  delete[] a->children;
  delete static_cast<ArrayData*>(a->private_data);
  a->release = nullptr;
}

void fill(const Node& n, ArrowArray& a) {
  auto* data = new ArrayData{n.buffers, n.owner};
  a = {n.length,
       n.nulls,
       0,
       static_cast<std::int64_t>(data->buffers.size()),
       static_cast<std::int64_t>(n.children.size()),
       data->buffers.data(),
       nullptr,
       nullptr,
       release_array,
       data};
  a.children = new ArrowArray*[n.children.size()];
  for (std::size_t i = 0; i < n.children.size(); ++i)
    fill(n.children[i], *(a.children[i] = new ArrowArray));
  if (!n.dictionary.empty()) fill(n.dictionary[0], *(a.dictionary = new ArrowArray));
}

/// Texts as an Arrow "large utf8" array; bytes that are not UTF-8 become U+FFFD, as Arrow demands.
struct Texts {
  std::vector<std::int64_t> offsets{0};
  std::string bytes;
  void add(std::string_view text) {
    append_utf8(bytes, text);
    offsets.push_back(static_cast<std::int64_t>(bytes.size()));
  }
};

Node dictionary_of(std::shared_ptr<const Texts> texts) {
  Node n{"U",
         "",
         static_cast<std::int64_t>(texts->offsets.size()) - 1,
         0,
         {nullptr, texts->offsets.data(), texts->bytes.data()},
         {},
         {},
         nullptr};
  n.owner = std::move(texts);
  return n;
}

/// Owns the null bitmap and keeps what owns the values.
struct ColumnOwner {
  std::shared_ptr<const void> values;
  std::vector<std::uint8_t> valid;
};

template <class Declared>
Node column_node(const std::shared_ptr<const void>& values, const ColumnRef<Declared>& c,
                 const std::shared_ptr<const Texts>& texts) {
  using T = ValueOf<Declared>;
  Node n;
  n.name = c.info.name;
  n.length = static_cast<std::int64_t>(c.column.size());
  auto owner = std::make_shared<ColumnOwner>(
      ColumnOwner{values, std::vector<std::uint8_t>((c.column.size() + 7) / 8, 0)});
  for (std::size_t i = 0; i < c.column.size(); ++i) {
    const bool null = is_unknown<Declared>(c.column[i]);
    n.nulls += null;
    if (!null) owner->valid[i / 8] |= static_cast<std::uint8_t>(1u << (i % 8));
  }
  n.buffers = {n.nulls > 0 ? owner->valid.data() : nullptr, c.column.data()};
  n.owner = std::move(owner);
  if constexpr (std::is_same_v<T, I64>)
    n.format = "l";
  else if constexpr (std::is_same_v<T, I32>)
    n.format = "i";
  else if constexpr (std::is_same_v<T, U32>)
    n.format = "I";
  else if constexpr (std::is_same_v<T, U8>)
    n.format = "C";
  else if constexpr (std::is_same_v<T, F64>)
    n.format = "g";
  else if constexpr (std::is_same_v<T, Text>) {
    n.format = "I";
    n.dictionary.push_back(dictionary_of(texts));
  } else {
    static_assert(sizeof(T) == 1);
    n.format = "C";
    auto names = std::make_shared<Texts>();
    for (const auto name : EnumNames<T>::names) names->add(name);
    n.dictionary.push_back(dictionary_of(std::move(names)));
  }
  return n;
}

/// One batch: all rows of a table, which `owner` keeps.
template <class Table>
Node table_node(const std::shared_ptr<const void>& owner, const Table& t,
                const std::shared_ptr<const Texts>& texts) {
  Node node{"+s", "", static_cast<std::int64_t>(t.size()), 0, {nullptr}, {}, {}, owner};
  t.each_column_ref([&](const auto& c) { node.children.push_back(column_node(owner, c, texts)); });
  return node;
}

/// The table as it is, and after it the packed samples when it is theirs, unpacked a batch at a
/// time.
struct Stream {
  static constexpr std::uint64_t kBatch = 1 << 20;  // values
  std::shared_ptr<const Capture> capture;
  std::shared_ptr<const Texts> texts;
  Node table;
  bool given = false, samples = false;
  std::size_t next_block = 0;
  BlockUnpacker unpacker;
  std::string error;

  void next(ArrowArray& out) {
    if (!std::exchange(given, true)) return fill(table, out);
    const auto& blocks = capture->sample_blocks;
    if (!samples || next_block == blocks.size()) {
      out = {};  // released: the end of the stream
      return;
    }
    auto rows = std::make_shared<counter_samples_table>();
    for (; next_block < blocks.size() &&
           (rows->empty() || rows->size() + blocks[next_block].values <= kBatch);
         ++next_block)
      expand(unpacker.unpack(blocks[next_block]), *rows);
    fill(table_node(rows, *rows, texts), out);
  }
};

}  // namespace

bool table_stream(std::shared_ptr<const Capture> capture, std::string_view name,
                  ArrowArrayStream& stream) {
  auto texts = std::make_shared<Texts>();
  for (std::uint32_t i = 0; i < capture->strings.size(); ++i)
    texts->add(capture->strings.view(Text{i}));
  Node table;
  bool found = false;
  capture->each_table([&](const auto& t) {
    if (t.kName != name) return;
    found = true;
    table = table_node(capture, t, texts);
  });
  if (!found) return false;
  auto* made = new Stream{};
  made->capture = std::move(capture), made->texts = std::move(texts),
  made->table = std::move(table);
  made->samples = name == counter_samples_table::kName;
  stream.private_data = made;
  stream.get_schema = [](ArrowArrayStream* s, ArrowSchema* out) {
    fill(static_cast<Stream*>(s->private_data)->table, *out);
    return 0;
  };
  stream.get_next = [](ArrowArrayStream* s, ArrowArray* out) {
    auto* state = static_cast<Stream*>(s->private_data);
    try {
      state->next(*out);
      return 0;
    } catch (const std::exception& e) {  // none crosses the C border
      state->error = e.what();
      return ENOMEM;
    }
  };
  stream.get_last_error = [](ArrowArrayStream* s) -> const char* {
    const auto& error = static_cast<Stream*>(s->private_data)->error;
    return error.empty() ? nullptr : error.c_str();
  };
  stream.release = [](ArrowArrayStream* s) {
    delete static_cast<Stream*>(s->private_data);
    s->release = nullptr;
  };
  return true;
}

}  // namespace gf
