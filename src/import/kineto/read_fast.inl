// The fast reader's body: one pass over the bytes, no index, no copy. Keys of events are told apart
// by their first four bytes; and the reader of layouts that are known. Included inside a namespace,
// once for every instruction set (read_fast.cpp).

#if defined(GF_WIDE)
inline const char* any_container_end(const char* at, const char* limit, bool& plain) {
  return container_end_wide(at, limit, plain);
}
#else
inline const char* any_container_end(const char* at, const char* limit, bool& plain) {
  plain = false;  // not looked at
  return container_end(at, limit);
}
#endif

/// Past a value that nobody reads; null when it is damaged.
inline const char* skip_value(const char* at, const char* end) {
  if (*at == '"') {
    at = string_end(at + 1, end);
    if (at) return at + 1;
    return nullptr;
  }
  if (*at == '[' || *at == '{') {
    bool plain;
    return any_container_end(at, end, plain);
  }
  const char* stop = scalar_stop(at);
  if (stop == at) return nullptr;
  return stop;
}

inline const char* read_value(const char* at, const char* end, Token& token) {
  if (*at == '"') {
    const char* stop = string_stop(at + 1);
    if (*stop != '"') return nullptr;
    token = {at + 1, static_cast<std::uint32_t>(stop - at - 1), Token::Kind::string};
    return stop + 1;
  }
  const bool container = *at == '[' || *at == '{';
  bool plain = true;
  const char* stop = nullptr;
  if (container) {
    stop = any_container_end(at, end, plain);
  } else {
    stop = scalar_stop(at);
  }
  if (!stop || stop == at) return nullptr;
  // Bytes outside ASCII and control characters inside texts must be validated, which is the slow
  // reader's work.
  if (!plain && needs_validation(at, stop)) return nullptr;
  token = {at, static_cast<std::uint32_t>(stop - at),
           container ? Token::Kind::container : Token::Kind::scalar};
  return stop;
}

/// After a value: past the comma to the next key, or to the closing brace. Null when neither stands
/// there.
inline const char* next(const char* at) {
  at = skip_space(at);
  if (*at == ',') {
    at = skip_space(at + 1);
    if (*at == '"') return at;
    return nullptr;
  }
  if (*at == '}') return at;
  return nullptr;
}

inline const char* after_colon(const char* at) {
  if (*at != ':') at = skip_space(at);
  if (*at != ':') return nullptr;
  ++at;
  if (*at == ' ') ++at;
  return is_space(*at) ? skip_space(at) : at;
}

inline const char* read_args(const char* at, const char* end, Event& event) {
  at = skip_space(at + 1);
  while (at && *at == '"') {
    const char* key = at + 1;
    const char* stop = string_stop(key);
    if (*stop != '"') return nullptr;
    at = after_colon(stop + 1);
    if (!at) return nullptr;
    const Field field = args_field({key, static_cast<std::size_t>(stop - key)});
    if (field == Field::count) {
      at = skip_value(at, end);
    } else {
      Token token;
      at = read_value(at, end, token);
      if (at) event.set(field, token);
    }
    if (at) at = next(at);
  }
  if (at && *at == '}') return at + 1;
  return nullptr;
}

inline const char* read_event(const char* at, const char* end, Event& event) {
  event.clear();
  at = skip_space(at + 1);
  while (at && *at == '"') {
    Field field = Field::count;
    switch (load4(at + 1)) {
      case four("ph\":"):
        field = Field::ph;
        at += 4;
        break;
      case four("ts\":"):
        field = Field::ts;
        at += 4;
        break;
      case four("id\":"):
        field = Field::id;
        at += 4;
        break;
      case four("pid\""):
        field = Field::pid;
        at += 5;
        break;
      case four("tid\""):
        field = Field::tid;
        at += 5;
        break;
      case four("cat\""):
        field = Field::cat;
        at += 5;
        break;
      case four("dur\""):
        field = Field::dur;
        at += 5;
        break;
      case four("name"):
        if (at[5] != '"') return nullptr;
        field = Field::name;
        at += 6;
        break;
      case four("args"): {
        if (at[5] != '"') return nullptr;
        at = after_colon(at + 6);
        if (!at) return nullptr;
        if (*at == '{') {
          at = read_args(at, end, event);
        } else {
          at = skip_value(at, end);
        }
        if (at) at = next(at);
        continue;
      }
      default: {
        const char* stop = string_stop(at + 1);
        if (*stop != '"') return nullptr;
        field = event_field({at + 1, static_cast<std::size_t>(stop - at - 1)});
        at = stop + 1;
      }
    }
    at = after_colon(at);
    if (!at) return nullptr;
    if (field == Field::count) {
      at = skip_value(at, end);
    } else {
      Token token;
      at = read_value(at, end, token);
      if (at) event.set(field, token);
    }
    if (at) at = next(at);
  }
  if (at && *at == '}' && at < end) return at + 1;
  return nullptr;
}

/// The value behind a place of a layout; null when it is not what read_event would take.
inline const char* read_known_value(const LayoutNode& place, const char* at, const char* end,
                                    Token& token) {
  const char* stop = nullptr;
  bool plain = true;
  switch (place.next) {
    case LayoutNode::Next::string:
      stop = string_stop(at);
      if (*stop != '"') return nullptr;
      token = {at, static_cast<std::uint32_t>(stop - at), Token::Kind::string};
      return stop;
    case LayoutNode::Next::scalar:
      stop = number_stop(at);  // where it is too early, no layout goes on
      if (stop == at) return nullptr;
      token = {at, static_cast<std::uint32_t>(stop - at), Token::Kind::scalar};
      return stop;
    default:
      stop = any_container_end(at, end, plain);
      if (!stop || (place.field != Field::count && !plain && needs_validation(at, stop)))
        return nullptr;
      token = {at, static_cast<std::uint32_t>(stop - at), Token::Kind::container};
      return stop;
  }
}

/// A few bytes of a name, to tell most names apart; and of what stands before and behind it, when
/// it is short: the same for one layout.
inline std::uint64_t sketch(const char* at, const char* end) {
  std::uint64_t head, tail;
  std::memcpy(&head, at, 8);
  std::memcpy(&tail, end - 8, 8);
  return head ^ tail << 1 ^ static_cast<std::uint64_t>(end - at) << 56;
}

/// Whether the bytes of a layout's node stand at `at`.
[[gnu::always_inline]] inline bool fits(const LayoutNode& node, const char* at) {
#if defined(GF_WIDE) || defined(__SSE2__)
  std::size_t left = node.size;
  for (std::size_t i = 0;; i += kBytes, left -= kBytes) {
    const auto differ = ~bits(equal(load(at + i), load(node.bytes + i)));
    if (left <= kBytes) return differ << (32 - left) == 0;
    if (differ << (32 - kBytes)) return false;
  }
#else
  return std::memcmp(at, node.bytes, node.size) == 0;
#endif
}

/// The child that stands at `at`.
[[gnu::always_inline]] inline LayoutNode* follow(LayoutNode& node, const char* at) {
  auto stands = [&](const LayoutNode& child) {
    return fits(child, at) && child.may_begin(at[child.size]);
  };
  if (node.likely && stands(*node.likely)) return node.likely;
  for (std::uint8_t i = 0; i < node.children; ++i)
    if (node.child[i] != node.likely && stands(*node.child[i])) return node.likely = node.child[i];
  return nullptr;
}

/// The inputs of an operation while they are read: a run of containers one after the other.
struct InputRun {
  const LayoutNode *first = nullptr, *last = nullptr;
  const char *begin = nullptr, *end = nullptr;
  std::array<Field, Inputs::kMost> fields;
  std::size_t count = 0;

  void take(const LayoutNode& place, const char* from, const char* to) {
    if (count == 0) {
      first = &place;
      begin = from;
    }
    if (count < fields.size()) fields[count] = place.field;
    ++count;
    last = &place;
    end = to;
  }
  /// Remembers them, unless they are too long for that.
  Inputs* keep(Layouts& layouts, std::uint64_t name, const Event& event) const {
    constexpr std::ptrdiff_t kLongest = 2048;
    if (count == 0 || count > fields.size() || end - begin > kLongest) return nullptr;
    Inputs& inputs =
        layouts.place_inputs(*first, name, {begin, static_cast<std::size_t>(end - begin)});
    if (inputs.last) return &inputs;
    inputs.last = last;
    inputs.count = count;
    for (std::size_t i = 0; i < count; ++i)
      inputs.parts[i] = {fields[i], static_cast<std::uint32_t>(event[fields[i]].data - begin),
                         event[fields[i]].size};
    return &inputs;
  }
};

inline const char* read_known(Layouts& layouts, const char* at, const char* const end,
                              Event& event) {
  LayoutNode* place = &layouts.root();
  std::uint64_t name = 0;
  InputRun run;
  bool in_run = false;
  event.inputs = nullptr;
  for (;;) {
    LayoutNode* const to = follow(*place, at);
    if (!to) return nullptr;
    place = to;
    for (std::uint8_t i = 0; i < to->told_count; ++i) {
      const auto& told = to->told[i];
      event.tokens[static_cast<std::size_t>(told.field)] = {at + told.at, told.size,
                                                            Token::Kind::string};
    }
    at += to->size;
    if (to->next == LayoutNode::Next::end) break;
    if (to->input && run.count == 0 && !event.inputs) {
      if (Inputs* known = layouts.guess_inputs(*to, name, at, end)) {
        for (std::size_t i = 0; i < known->count; ++i) {
          const auto& part = known->parts[i];
          event.tokens[static_cast<std::size_t>(part.field)] = {at + part.from, part.size,
                                                                Token::Kind::container};
        }
        at += known->bytes.size();
        place = const_cast<LayoutNode*>(known->last);
        event.inputs = known;
        continue;
      }
      in_run = true;
    }
    Token token;
    const char* const stop = read_known_value(*to, at, end, token);
    if (!stop) return nullptr;
    if (to->field != Field::count) event.tokens[static_cast<std::size_t>(to->field)] = token;
    if (to->field == Field::name) name = sketch(at, stop);
    in_run = in_run && to->input;
    if (in_run) run.take(*to, at, stop);
    at = stop;
  }
  if (at > end) return nullptr;
  event.present = place->present;
  event.duplicates = 0;
  event.category = place->category;
  event.category_known = true;
  if (!event.inputs) event.inputs = run.keep(layouts, name, event);
  // Those of the event that do not stand in the run would not be remembered with it.
  if (event.inputs &&
      event.inputs->count != static_cast<std::size_t>(std::popcount(event.present & kInputFields)))
    event.inputs = nullptr;
  return at;
}
