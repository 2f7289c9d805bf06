// The fast reader's body: one pass over the bytes, no index, no copy. Keys of events are told apart
// by their first four bytes. Included inside a namespace, once for every instruction set
// (read_fast.cpp).

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
  if (is_space(*at)) return skip_space(at);
  return at;
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
