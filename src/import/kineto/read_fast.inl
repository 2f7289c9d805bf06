// The fast reader's body: one pass over the bytes, no index, no copy. Keys of events are told apart
// by their first four bytes; and the readers of layouts that are known and of patterns. Included
// inside a namespace, once for every instruction set (read_fast.cpp).

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

/// True if the first `count` of `bytes`, at least one, stand at `at`; others may be read behind
/// both. A look at the last ones, which may be among those looked at before, ends it.
[[gnu::always_inline]] inline bool stands(const char* at, const char* bytes, std::size_t count) {
#if defined(GF_WIDE) || defined(__SSE2__)
  if (count < kBytes) return ~bits(equal(load(at), load(bytes))) << (32 - count) == 0;
  for (std::size_t i = 0; i + kBytes < count; i += kBytes)
    if (bits(equal(load(at + i), load(bytes + i))) != kAllBits) return false;
  const std::size_t tail = count - kBytes;
  return bits(equal(load(at + tail), load(bytes + tail))) == kAllBits;
#else
  return std::memcmp(at, bytes, count) == 0;
#endif
}

/// The child that stands at `at`.
[[gnu::always_inline]] inline LayoutNode* follow(LayoutNode& node, const char* at) {
  auto fits = [&](const LayoutNode& child) {
    return stands(at, child.bytes, child.size) && child.may_begin(at[child.size]);
  };
  if (node.likely && fits(*node.likely)) return node.likely;
  for (std::uint8_t i = 0; i < node.children; ++i)
    if (node.child[i] != node.likely && fits(*node.child[i])) return node.likely = node.child[i];
  return nullptr;
}

inline const char* read_known(Layouts& layouts, const char* at, const char* const end,
                              Event& event) {
  LayoutNode* place = &layouts.root();
  event.clear();
  for (;;) {
    LayoutNode* const to = follow(*place, at);
    if (!to) return nullptr;
    place = to;
    for (std::uint8_t i = 0; i < to->told_count; ++i) {
      const auto& told = to->told[i];
      event.take(told.field, {at + told.at, told.size, Token::Kind::string});
    }
    at += to->size;
    if (to->next == LayoutNode::Next::end) break;
    Token token;
    const char* const stop = read_known_value(*to, at, end, token);
    if (!stop) return nullptr;
    if (to->field != Field::count) event.take(to->field, token);
    if (to->moves && event.moving_count++ < Event::kMostMoving)
      event.moving[event.moving_count - 1] = {to->field, at, stop};
    at = stop;
  }
  if (at > end) return nullptr;
  event.present = place->present;
  event.took(place->present);
  event.category = place->category;
  event.category_known = true;
  return at;
}

/// An event that follows a pattern: one comparison for all that does not move.
inline const char* read_pattern(EventPattern& pattern, std::string_view name, const char* at,
                                const char* const end, Event& event) {
  const char* bytes = pattern.bytes.data();
  event.forget_values();
  event.name_known = false;
  const EventPattern::Part* part = pattern.parts.data();
  for (const auto* const last = part + pattern.parts.size() - 1;; ++part) {
    if (!stands(at, bytes, part->size)) return nullptr;
    at += part->size;
    bytes += part->size;
    if (part == last) break;
    const char* stop;
    if (part->field == Field::name) {
      event.name_known = static_cast<std::ptrdiff_t>(name.size()) < end - at &&
                         std::string_view(at, name.size()) == name && at[name.size()] == '"';
      stop = event.name_known ? at + name.size() : string_stop(at);
      if (*stop != '"') return nullptr;
    } else {
      stop = number_stop(at);  // where it is too early, no pattern goes on
      if (stop == at || !begins_number(*at)) return nullptr;
    }
    if (part->field != Field::count)
      event.take(part->field,
                 {at, static_cast<std::uint32_t>(stop - at),
                  part->field == Field::name ? Token::Kind::string : Token::Kind::scalar});
    at = stop;
  }
  if (at > end) return nullptr;
  event.present = pattern.present;
  event.took(pattern.moving_fields);
  event.duplicates = 0;
  event.category = pattern.category;
  event.category_known = true;
  event.pattern = &pattern;
  return at;
}
