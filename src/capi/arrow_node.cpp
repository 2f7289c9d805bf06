#include "capi/arrow_node.h"

#include <cerrno>
#include <exception>

namespace gf {

namespace {

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

}  // namespace

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

namespace {

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

}  // namespace

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

namespace {

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

}  // namespace

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

}  // namespace gf
