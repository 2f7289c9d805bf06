#include "import/perfetto/slices.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "import/gpu_api.h"

namespace gf::perfetto {

namespace {

constexpr std::uint64_t kBegins = 1, kEnds = 2;

enum class What { kernel, copy, call, range, nothing };
/// The kinds of rocprofv3's slices, by their category.
constexpr std::pair<std::string_view, What> kCategories[] = {
    {"kernel_dispatch", What::kernel}, {"memory_copy", What::copy},
    {"hip_api", What::call},           {"hip_runtime_api", What::call},
    {"rccl_api", What::call},          {"marker_api", What::range},
    {"hsa_api", What::nothing},        {"memory_allocation", What::nothing},
    {"scratch_memory", What::nothing}};

/// The number in the first brackets behind a word: "COMPUTE AGENT [4] QUEUE [0] (GPU)".
std::int64_t number_behind(std::string_view text, std::string_view word) {
  const auto at = text.find(word);
  std::int64_t value = -1;
  if (at == text.npos) return value;
  const auto open = text.find_first_of("0123456789", at + word.size());
  if (open == text.npos) return value;
  std::from_chars(text.data() + open, text.data() + text.size(), value);
  return value;
}

}  // namespace

std::int64_t Slices::Slice::number(std::string_view key) const {
  const auto found = numbers.find(key);
  return found == numbers.end() ? -1 : found->second;
}

void Slices::track(std::string_view descriptor) {
  std::uint64_t uuid = 0;
  Track track;
  // The fields of a process or thread: its numbers, and its name.
  const auto describe = [&](std::string_view of, bool thread) {
    for (auto message = message_of(of); message.next();) {
      const auto tag = message.tag();
      std::uint64_t number = 0;
      std::string_view text;
      if (tag == 1) {
        if (read(message, number)) track.pid = static_cast<std::int64_t>(number);
      } else if (tag == 2 && thread) {
        if (read(message, number)) track.tid = static_cast<std::int64_t>(number);
      } else if (tag == (thread ? 5 : 6)) {
        if (read(message, text)) track.name = text;
      } else {
        message.skip();
      }
    }
  };
  for (auto message = message_of(descriptor); message.next();) {
    std::string_view bytes;
    switch (message.tag()) {
      case field::kUuid:
        read(message, uuid);
        break;
      case field::kTrackName:
        if (read(message, bytes)) track.name = bytes;
        break;
      case field::kProcess:
        if (read(message, bytes)) describe(bytes, false);
        break;
      case field::kThread:
        if (read(message, bytes)) describe(bytes, true);
        break;
      default:
        message.skip();
    }
  }
  tracks_[uuid] = std::move(track);
}

void Slices::event(std::string_view event, Nanos time, const SequenceNames& names) {
  std::uint64_t type = 0, number = 0;
  Slice slice;
  slice.start = time;
  std::string_view name, bytes, category;
  std::vector<std::string_view> annotations;
  for (auto message = message_of(event); message.next();) switch (message.tag()) {
      case field::kType:
        read(message, type);
        break;
      case field::kTrackUuid:
        read(message, slice.track);
        break;
      case field::kNameNumber:
        if (read(message, number)) name = names.get(SequenceNames::events, number);
        break;
      case field::kNameText:
        read(message, name);
        break;
      case field::kCategoryNumbers:
        if (read(message, number)) category = names.get(SequenceNames::categories, number);
        break;
      case field::kCategoryTexts:
        read(message, category);
        break;
      case field::kAnnotations:
        if (read(message, bytes)) annotations.push_back(bytes);
        break;
      default:
        message.skip();
    }
  if (type == kEnds) {
    ends_[slice.track].ends.push_back(time);
    return;
  }
  if (type != kBegins) return;
  slice.name = c_.strings.intern(name);
  slice.category = c_.strings.intern(category);
  for (const auto annotation : annotations) annotate(annotation, slice, names);
  ends_[slice.track].begins.push_back(slices_.size());
  slices_.push_back(std::move(slice));
}

void Slices::annotate(std::string_view annotation, Slice& slice, const SequenceNames& names) const {
  std::uint64_t number = 0;
  std::string_view key, text;
  bool has_number = false;
  std::vector<std::int64_t> list;
  for (auto message = message_of(annotation); message.next();) switch (message.tag()) {
      case field::kKeyNumber:
        if (read(message, number)) key = names.get(SequenceNames::keys, number);
        break;
      case field::kKey:
        read(message, key);
        break;
      case field::kUnsigned:
      case field::kSigned: {
        has_number = read(message, number);
        break;
      }
      case field::kText:
        read(message, text);
        break;
      case field::kTextNumber:
        if (read(message, number)) text = names.get(SequenceNames::texts, number);
        break;
      case field::kList: {
        std::string_view item;
        if (!read(message, item)) break;
        for (auto value = message_of(item); value.next();) {
          std::uint64_t one = 0;
          if (value.tag() != field::kUnsigned && value.tag() != field::kSigned)
            value.skip();
          else if (read(value, one))
            list.push_back(static_cast<std::int64_t>(one));
        }
        break;
      }
      default:
        message.skip();
    }
  if (!list.empty())
    slice.lists[std::string(key)] = std::move(list);
  else if (has_number)
    slice.numbers[std::string(key)] = static_cast<std::int64_t>(number);
  else if (!text.empty())
    slice.texts[std::string(key)] = text;
}

/// A track's slices nest. Packets come in any order: at one time, what is open ends first, and what
/// begins then and has no length ends last.
void Slices::pair(Ends& of) {
  std::ranges::stable_sort(of.begins, {}, [&](std::size_t slice) { return slices_[slice].start; });
  std::ranges::sort(of.ends);
  std::vector<std::size_t> open;
  std::size_t begin = 0;
  for (const Nanos end : of.ends) {
    while (begin < of.begins.size() && slices_[of.begins[begin]].start < end)
      open.push_back(of.begins[begin++]);
    if (open.empty() && begin < of.begins.size() && slices_[of.begins[begin]].start == end)
      open.push_back(of.begins[begin++]);
    if (open.empty()) continue;
    slices_[open.back()].end = end;
    open.pop_back();
  }
}

/// rocprofv3 numbers its agents with the processors, which come first.
std::int64_t Slices::agent_of(const Slice& slice) {
  return std::max(number_behind(tracks_[slice.track].name, "AGENT ["), slice.number("agent"));
}

void Slices::finish() {
  for (auto& [track, ends] : ends_) pair(ends);
  for (const auto& slice : slices_)
    if (const auto agent = agent_of(slice); agent >= 0) agents_.try_emplace(agent, 0);
  std::int64_t gpus = 0;
  for (auto& [agent, gpu] : agents_) gpu = gpus++;
  for (auto& slice : slices_) {
    // rocprofv3 moves the ends of what overlaps; the annotations are what was measured.
    if (const auto begin = slice.number("begin_ns"), end = slice.number("end_ns");
        begin >= 0 && end >= begin) {
      slice.start = begin;
      slice.end = end;
    }
    if (slice.end < slice.start)
      rows_.bad_row();
    else
      add(slice);
  }
}

void Slices::add(const Slice& slice) {
  const Track& track = tracks_[slice.track];
  const auto name = c_.text(slice.name), category = c_.text(slice.category);
  for (const auto& [of, what] : kCategories) {
    if (category != of) continue;
    if (what == What::kernel || what == What::copy) return add_work(slice, what == What::copy);
    if (what == What::nothing) return;
    const auto thread = rows_.thread(track.pid, track.tid);
    if (what == What::call)
      return rows_.call(slice.start, slice.end, thread, name, slice.number("corr_id"));
    return rows_.range(slice.start, slice.end, thread, name);
  }
  // PyTorch, without categories: GPU work names its stream and its call, waits beside it name what
  // they wait for.
  if (slice.numbers.contains("stream")) {
    if (slice.numbers.contains("correlation") && !slice.texts.contains("cuda_sync_kind"))
      add_work(slice, name.starts_with("Memcpy"));
    return;
  }
  const auto thread = rows_.thread(track.pid, track.tid);
  if (is_gpu_api(name) || slice.numbers.contains("cbid"))
    return rows_.call(slice.start, slice.end, thread, name, slice.number("correlation"));
  if (name.find('#') != name.npos) return rows_.range(slice.start, slice.end, thread, name);
  rows_.operation(slice.start, slice.end, thread, name, slice.number("External id"));
}

void Slices::add_work(const Slice& slice, bool copy) {
  DeviceWork work;
  work.start = slice.start;
  work.end = slice.end;
  work.bytes = slice.number("bytes");
  auto device = slice.number("device");
  work.correlation = slice.number("correlation");
  work.stream = slice.number("stream");
  std::string_view vendor = "nvidia";
  if (slice.category != Text{}) {  // rocprofv3
    vendor = "amd";
    device = agents_[agent_of(slice)];
    work.correlation = slice.number("corr_id");
    work.stream = std::max(slice.number("stream_ID"), slice.number("queue"));
  }
  work.device = rows_.device(device, vendor);
  const auto name = c_.text(slice.name);
  if (copy) {
    work.kind = ActivityKind::memcpy;
    const auto kind = slice.texts.find("copy kind");
    work.copy = copy_direction(kind != slice.texts.end() ? std::string_view(kind->second) : name);
  } else {
    work.name = slice.name;
    if (name.starts_with("Memset")) work.kind = ActivityKind::memset;
    if (const auto node = slice.number("graph node id"); node > 0) work.graph_node = node;
    for (const auto& [key, of] : {std::pair("grid", &work.grid), std::pair("block", &work.block)})
      if (const auto list = slice.lists.find(key);
          list != slice.lists.end() && list->second.size() == 3)
        std::ranges::copy(list->second, of->begin());
  }
  rows_.work(work);
}

}  // namespace gf::perfetto
