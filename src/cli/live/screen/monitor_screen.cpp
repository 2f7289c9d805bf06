#include "cli/live/screen/monitor_screen.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <deque>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "model/metrics.h"
#include "report/labels.h"
#include "report/live.h"
#include "report/text/format.h"

namespace gf::cli {

namespace {

constexpr std::string_view kOwnScreen = "\x1b[?1049h\x1b[?25l", kBack = "\x1b[?25h\x1b[?1049l";

void tell_terminal(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

using Sequence = std::pair<std::string_view, Key>;
/// The longer ones first: an escape alone is a key too.
constexpr std::array kSequences{
    Sequence{"\x1b[A", Key::up},    Sequence{"\x1b[B", Key::down}, Sequence{"\x1b[C", Key::right},
    Sequence{"\x1b[D", Key::left},  Sequence{"\x1bOA", Key::up},   Sequence{"\x1bOB", Key::down},
    Sequence{"\x1bOC", Key::right}, Sequence{"\x1bOD", Key::left}, Sequence{"\x1b", Key::escape},
    Sequence{"\r", Key::enter},     Sequence{"\n", Key::enter},    Sequence{"g", Key::enter},
    Sequence{"q", Key::quit},       Sequence{"s", Key::sort},      Sequence{"p", Key::processes},
    Sequence{"?", Key::help},       Sequence{"h", Key::help},      Sequence{"k", Key::up},
    Sequence{"j", Key::down}};

}  // namespace

std::vector<Key> keys_of(const char* bytes, std::size_t count) {
  std::vector<Key> keys;
  std::string_view left(bytes, count);
  while (!left.empty()) {
    const auto found = std::find_if(kSequences.begin(), kSequences.end(),
                                    [&](const auto& each) { return left.starts_with(each.first); });
    if (found == kSequences.end()) {
      keys.push_back(Key::other);
      left.remove_prefix(1);
    } else {
      keys.push_back(found->second);
      left.remove_prefix(found->first.size());
    }
  }
  return keys;
}

int terminal_rows() {
  constexpr int usual = 24;
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : usual;
}

Keyboard::Keyboard() {
  // A program in the background that sets the terminal up would be stopped.
  if (isatty(STDIN_FILENO) == 0 || tcgetpgrp(STDIN_FILENO) != getpgrp()) return;
  if (tcgetattr(STDIN_FILENO, &before_) != 0) return;
  termios keys = before_;
  keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  keys.c_cc[VMIN] = 0;
  keys.c_cc[VTIME] = 0;
  keys.c_cc[VSUSP] = _POSIX_VDISABLE;  // stopped, it would leave the terminal like this
  works_ = tcsetattr(STDIN_FILENO, TCSANOW, &keys) == 0;
  if (works_) tell_terminal(kOwnScreen);
}

Keyboard::~Keyboard() {
  if (!works_) return;
  tell_terminal(kBack);
  tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

std::vector<Key> Keyboard::wait(Nanos limit, int wake_fd) {
  std::array<pollfd, 2> waiting{{{wake_fd, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}}};
  const Nanos ms = std::clamp<Nanos>((limit + kNsPerMs - 1) / kNsPerMs, 0, 60'000);
  if (::poll(waiting.data(), waiting.size(), static_cast<int>(ms)) <= 0) return {};
  if (waiting[1].revents == 0) return {};
  std::array<char, 64> bytes{};
  const auto got = ::read(STDIN_FILENO, bytes.data(), bytes.size());
  if (got <= 0) return {Key::quit};  // the terminal is gone
  return keys_of(bytes.data(), static_cast<std::size_t>(got));
}

namespace {

struct HistoryLabel {
  const char* name;
  const char* unit;
  double full;  // what a full column means; 0: the highest reading
};

constexpr int kBeforeColumns = 45;

std::string number(double value) {
  if (std::isnan(value)) return "-";
  if (value < 9.95) return fmt::format("{:.1f}", value);
  return fmt::format("{:.0f}", value);
}

const char* column(double part, bool utf8) {
  constexpr std::array<const char*, 8> blocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr std::array<const char*, 8> letters{"_", ".", ":", "-", "=", "+", "*", "#"};
  const auto step = static_cast<std::size_t>(std::clamp(part * 8, 0.0, 7.0));
  return utf8 ? blocks[step] : letters[step];
}

/// Name, newest, lowest and highest reading, and a column for each of the newest readings; empty
/// when there is no reading at all. A reading without data (NaN) is a blank.
std::string history_line(const std::deque<double>& readings, const HistoryLabel& label,
                         const TextStyle& style) {
  double lowest = NAN;
  double highest = NAN;
  for (const double value : readings) {
    lowest = std::fmin(lowest, value);  // which passes NaN over
    highest = std::fmax(highest, value);
  }
  if (std::isnan(highest)) return {};
  double full = label.full;
  if (full <= 0) full = std::max(highest, 1e-9);
  std::string out =
      fmt::format("  {:<13}{:>8}{:>8}{:>8} {:<5}", label.name, number(readings.back()),
                  number(lowest), number(highest), label.unit);
  const auto room = static_cast<std::size_t>(std::max(style.width - kBeforeColumns, 1));
  const std::size_t first = readings.size() - std::min(readings.size(), room);
  out.append(room - (readings.size() - first), ' ');
  for (std::size_t i = first; i < readings.size(); ++i) {
    out += std::isnan(readings[i]) ? " " : column(readings[i] / full, style.utf8);
  }
  return out + "\n";
}

constexpr std::size_t kReadings = 600;

struct Shown {
  const char* id;
  const char* label;
  const char* unit;
  double scale;
  double full;  // what a full column of the history means; 0: the highest that was seen
};
constexpr Shown kBehindLevels[] = {{"power.module"_metric, "power", "W", 1, 0},
                                   {"clock.sm"_metric, "SM clock", "MHz", 1e-6, 0},
                                   {"temperature.gpu"_metric, "temperature", "C", 1, 0},
                                   {"temperature.memory"_metric, "memory temp.", "C", 1, 0},
                                   {"memory.used"_metric, "memory", "GB", 1e-9, 0},
                                   {"pcie.rx"_metric, "PCIe in", "MB/s", 1e-6, 0},
                                   {"nvlink.rx"_metric, "NVLink in", "MB/s", 1e-6, 0}};

/// Levels that counters of the whole GPU tell, then the rest.
const std::vector<Shown>& shown_over_time() {
  static const auto all = [] {
    std::vector<Shown> shown;
    for (const char* id : live_levels())
      shown.push_back({id, label_of_metric(id).text.data(), "%", 100, 100});
    shown.insert(shown.end(), std::begin(kBehindLevels), std::end(kBehindLevels));
    return shown;
  }();
  return all;
}

double value_of(const LiveGpu& gpu, const char* id) {
  const auto found = gpu.values.find(id);
  return found == gpu.values.end() ? std::numeric_limits<double>::quiet_NaN() : found->second;
}

/// Missing data is below everything.
double rank_of(const LiveGpu& gpu, const char* id) {
  const double value = value_of(gpu, id);
  if (std::isnan(value)) return -1;
  return value;
}

std::string label_of(const LiveGpu& gpu) {
  if (gpu.instance.empty()) return fmt::format("GPU {}", gpu.index);
  return fmt::format("GPU {}:{}", gpu.index, gpu.instance);
}

std::string job_of(const LiveProcess& process) {
  std::string out;
  for (const char* key : {"job.user", "job.id", "kubernetes.pod", "job.rank"}) {
    const auto found = process.job.find(key);
    if (found == process.job.end()) continue;
    if (!out.empty()) out += ' ';
    if (std::string_view(key) == "job.rank") out += "rank ";
    if (std::string_view(key) == "job.id") out += "job ";
    out += printable(found->second);
  }
  return out;
}

std::string process_name_of(const LiveProcess& process) {
  return process.name.empty() ? "(out of sight)" : printable(process.name);
}

std::string memory_of(const LiveProcess& process) {
  return process.memory_bytes < 0 ? "-" : format_bytes(process.memory_bytes);
}

constexpr const char* kHelp =
    "Keys\n\n"
    "  q          leave\n"
    "  s          sort the GPUs: by number, busy, power, memory\n"
    "  enter, g   one GPU, with the history of its levels\n"
    "  left/right the GPU before and after, there\n"
    "  p          the processes of all GPUs, most memory first\n"
    "  up/down    scroll; j and k, too\n"
    "  esc        back to the table\n"
    "  ?, h       this list\n";

std::string first_lines(const std::string& text, std::size_t skip, std::size_t lines) {
  std::size_t begin = 0;
  for (; skip > 0; --skip) {
    const auto end = text.find('\n', begin);
    if (end == std::string::npos || end + 1 >= text.size()) break;
    begin = end + 1;
  }
  std::size_t end = begin;
  for (; lines > 0 && end < text.size(); --lines) {
    const auto line = text.find('\n', end);
    if (line == std::string::npos) return text.substr(begin);
    end = line + 1;
  }
  return text.substr(begin, end - begin);
}

}  // namespace

void MonitorScreen::add(LiveTable table) {
  table_ = std::move(table);
  for (const auto& gpu : table_.gpus)
    for (const auto& shown : shown_over_time()) {
      auto& readings = histories_[gpu.uuid][shown.id];
      readings.push_back(value_of(gpu, shown.id) * shown.scale);
      if (readings.size() > kReadings) readings.pop_front();
    }
}

bool MonitorScreen::press(Key key) {
  const View before = view_;
  switch (key) {
    case Key::quit:
      return false;
    case Key::escape:
      view_ = View::table;
      break;
    case Key::enter:
      view_ = View::gpu;
      break;
    case Key::processes:
      view_ = View::processes;
      break;
    case Key::help:
      view_ = View::help;
      break;
    case Key::sort:
      order_ = static_cast<Order>((static_cast<int>(order_) + 1) % 4);
      view_ = View::table;
      break;
    case Key::up:
      if (scroll_ > 0) --scroll_;
      break;
    case Key::down:
      ++scroll_;
      break;
    case Key::left:
      if (gpu_ > 0) --gpu_;
      break;
    case Key::right:
      if (gpu_ + 1 < table_.gpus.size()) ++gpu_;
      break;
    case Key::other:
      break;
  }
  if (view_ != before) scroll_ = 0;
  return true;
}

bool MonitorScreen::in_order(const LiveGpu& left, const LiveGpu& right) const {
  const char* id = "memory.used"_metric;
  if (order_ == Order::busy) id = "gpu.busy"_metric;
  if (order_ == Order::power) id = "power.module"_metric;
  return rank_of(left, id) > rank_of(right, id);
}

LiveTable MonitorScreen::sorted() const {
  LiveTable table = table_;
  if (order_ != Order::number)
    std::stable_sort(
        table.gpus.begin(), table.gpus.end(),
        [this](const LiveGpu& left, const LiveGpu& right) { return in_order(left, right); });
  return table;
}

std::string MonitorScreen::gpu_page(const TextStyle& style) const {
  if (table_.gpus.empty()) return "no GPU\n";
  const auto& gpu = table_.gpus[std::min(gpu_, table_.gpus.size() - 1)];
  const auto width = static_cast<std::size_t>(style.width);
  std::string out =
      shorten_middle(fmt::format("{}  {}  {}", label_of(gpu), gpu.name, gpu.uuid), width) + "\n";
  if (!gpu.missing.empty()) out += wrap("No levels: " + gpu.missing, width, 2);
  out += fmt::format("  {:<13}{:>8}{:>8}{:>8}  history, newest at the right\n", "", "now", "lowest",
                     "highest");
  const auto history = histories_.find(gpu.uuid);
  for (const auto& shown : shown_over_time()) {
    if (history == histories_.end()) break;
    const auto readings = history->second.find(shown.id);
    if (readings == history->second.end()) continue;
    out += history_line(readings->second, {shown.label, shown.unit, shown.full}, style);
  }
  for (const auto& word : gpu.throttle) out += fmt::format("  clocks throttled by {}\n", word);
  for (const auto& xid : gpu.xids)
    out += wrap(fmt::format("XID {}, {} since the start: {}", xid.code, format_count(xid.count),
                            xid_words(xid.code)),
                width, 2);
  for (const auto& process : gpu.processes)
    out += shorten_middle(fmt::format("  {:>8} {:>10}  {}  {}", process.pid, memory_of(process),
                                      process_name_of(process), job_of(process)),
                          width) +
           "\n";
  return out;
}

std::string MonitorScreen::process_page(const TextStyle& style) const {
  std::vector<std::pair<const LiveGpu*, const LiveProcess*>> rows;
  for (const auto& gpu : table_.gpus)
    for (const auto& process : gpu.processes) rows.emplace_back(&gpu, &process);
  std::stable_sort(rows.begin(), rows.end(), [](const auto& left, const auto& right) {
    return left.second->memory_bytes > right.second->memory_bytes;
  });
  std::string out =
      fmt::format("{:<11}{:>8}{:>11}  {:<24}{}\n", "GPU", "process", "memory", "name", "whose");
  for (const auto& [gpu, process] : rows)
    out +=
        shorten_middle(fmt::format("{:<11}{:>8}{:>11}  {:<24}{}", label_of(*gpu), process->pid,
                                   memory_of(*process),
                                   shorten_middle(process_name_of(*process), 23), job_of(*process)),
                       static_cast<std::size_t>(style.width)) +
        "\n";
  if (rows.empty()) out += "no process holds memory of a GPU\n";
  return out;
}

std::string MonitorScreen::key_line() const {
  constexpr std::array<const char*, 4> orders{"number", "busy", "power", "memory"};
  return fmt::format("q quit  s sort: {}  enter GPU  p processes  esc table  ? help",
                     orders[static_cast<std::size_t>(order_)]);
}

std::string MonitorScreen::draw(const TextStyle& style, int rows) const {
  std::string text;
  switch (view_) {
    case View::table:
      text = live_text(sorted(), style);
      break;
    case View::gpu:
      text = gpu_page(style);
      break;
    case View::processes:
      text = process_page(style);
      break;
    case View::help:
      text = kHelp;
      break;
  }
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  const auto room = static_cast<std::size_t>(std::max(rows - 1, 1));
  std::size_t most = lines > room ? lines - room : 0;
  return first_lines(text, std::min(scroll_, most), room) + key_line();
}

}  // namespace gf::cli
