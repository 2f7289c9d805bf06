// The fast reader's body: one pass over the bytes, no index, no copy. Keys of events are told apart
// by their first four bytes. Included inside a namespace, once for every instruction set
// (read_fast.cpp).

#if defined(GF_WIDE)
inline const char* any_container_end(const char* p, const char* limit, bool& plain) {
  return container_end_wide(p, limit, plain);
}
#else
inline const char* any_container_end(const char* p, const char* limit, bool& plain) {
  plain = false;  // not looked at
  return container_end(p, limit);
}
#endif

/// Past a value that nobody reads; null when it is damaged.
inline const char* skip_value(const char* p, const char* end) {
  if (*p == '"') {
    p = string_end(p + 1, end);
    return p ? p + 1 : nullptr;
  }
  if (*p == '[' || *p == '{') {
    bool plain;
    return any_container_end(p, end, plain);
  }
  const char* stop = scalar_stop(p);
  return stop == p ? nullptr : stop;
}

inline const char* read_value(const char* p, const char* end, Token& t) {
  if (*p == '"') {
    const char* stop = string_stop(p + 1);
    if (*stop != '"') return nullptr;
    t = {p + 1, static_cast<std::uint32_t>(stop - p - 1), Token::Kind::string};
    return stop + 1;
  }
  const bool container = *p == '[' || *p == '{';
  bool plain = true;
  const char* stop = container ? any_container_end(p, end, plain) : scalar_stop(p);
  if (!stop || stop == p) return nullptr;
  // Bytes outside ASCII and control characters inside texts must be validated, which is the slow
  // reader's work.
  if (!plain && needs_validation(p, stop)) return nullptr;
  t = {p, static_cast<std::uint32_t>(stop - p),
       container ? Token::Kind::container : Token::Kind::scalar};
  return stop;
}

/// After a value: past the comma to the next key, or to the closing brace. Null when neither stands
/// there.
inline const char* next(const char* p) {
  p = skip_space(p);
  if (*p == ',') {
    p = skip_space(p + 1);
    return *p == '"' ? p : nullptr;
  }
  return *p == '}' ? p : nullptr;
}

inline const char* after_colon(const char* p) {
  if (*p != ':') p = skip_space(p);
  if (*p != ':') return nullptr;
  ++p;
  if (*p == ' ') ++p;
  return is_space(*p) ? skip_space(p) : p;
}

inline const char* read_args(const char* p, const char* end, Event& e) {
  p = skip_space(p + 1);
  while (p && *p == '"') {
    const char* key = p + 1;
    const char* stop = string_stop(key);
    if (*stop != '"') return nullptr;
    p = after_colon(stop + 1);
    if (!p) return nullptr;
    const Field field = args_field({key, static_cast<std::size_t>(stop - key)});
    if (field == Field::count) {
      p = skip_value(p, end);
    } else {
      Token t;
      p = read_value(p, end, t);
      if (p) e.set(field, t);
    }
    if (p) p = next(p);
  }
  return p && *p == '}' ? p + 1 : nullptr;
}

inline const char* read_event(const char* p, const char* end, Event& e) {
  e.clear();
  p = skip_space(p + 1);
  while (p && *p == '"') {
    Field field = Field::count;
    switch (load4(p + 1)) {
      case four("ph\":"):
        field = Field::ph, p += 4;
        break;
      case four("ts\":"):
        field = Field::ts, p += 4;
        break;
      case four("id\":"):
        field = Field::id, p += 4;
        break;
      case four("pid\""):
        field = Field::pid, p += 5;
        break;
      case four("tid\""):
        field = Field::tid, p += 5;
        break;
      case four("cat\""):
        field = Field::cat, p += 5;
        break;
      case four("dur\""):
        field = Field::dur, p += 5;
        break;
      case four("name"):
        if (p[5] != '"') return nullptr;
        field = Field::name, p += 6;
        break;
      case four("args"): {
        if (p[5] != '"') return nullptr;
        p = after_colon(p + 6);
        if (!p) return nullptr;
        p = *p == '{' ? read_args(p, end, e) : skip_value(p, end);
        if (p) p = next(p);
        continue;
      }
      default: {
        const char* stop = string_stop(p + 1);
        if (*stop != '"') return nullptr;
        field = event_field({p + 1, static_cast<std::size_t>(stop - p - 1)});
        p = stop + 1;
      }
    }
    p = after_colon(p);
    if (!p) return nullptr;
    if (field == Field::count) {
      p = skip_value(p, end);
    } else {
      Token t;
      p = read_value(p, end, t);
      if (p) e.set(field, t);
    }
    if (p) p = next(p);
  }
  return p && *p == '}' && p < end ? p + 1 : nullptr;
}
