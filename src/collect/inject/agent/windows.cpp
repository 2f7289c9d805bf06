#include "collect/inject/agent/windows.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <string>
#include <utility>

#include "collect/inject/agent/agent.h"
#include "collect/inject/agent/calls.h"
#include "collect/inject/agent/cupti_functions.h"
#include "collect/inject/agent/graphs.h"
#include "collect/inject/agent/records.h"
#include "collect/inject/agent/writer.h"

namespace gf::inject {

namespace {

constinit pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

// A window with so many launches and no kernel after so long is begun again.
constexpr std::int64_t kSilentLaunches = 2000, kSilentFor = 400'000'000;
constexpr std::int64_t kLaunchesOfABuffer = 200;

CUpti_SubscriberHandle subscriber = nullptr;
std::atomic<bool> open_window{false};
std::int64_t window_start = 0, window_end = 0;  // the end is 0 until it is closed
std::uint32_t window_request = 0;
bool subscribed = false;
bool one_before = false;  // window of this process
bool doubted = false;     // the window before came without kernels
// The last reason why nothing is recorded. Never destroyed: this library's threads outlive main().
std::string& told = *new std::string;

void tell(const std::string& text) {
  if (text == told) return;
  told = text;
  Writer::instance().message(text);
  Writer::instance().flush();
}

/// Empty, or why not.
std::string subscribe() {
  if (subscribed) return {};
  char other[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN] = "";
  CUptiResult code = CUPTI_SUCCESS;
  if (cupti.cuptiSubscribe_v2) {
    CUpti_SubscriberParams params{};
    params.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
    params.subscriberName = "gpufathom";
    params.oldSubscriberName = other;
    params.oldSubscriberSize = sizeof other;
    code = cupti.cuptiSubscribe_v2(&subscriber, &on_call, nullptr, &params);
  } else {
    code = cupti.cuptiSubscribe(&subscriber, &on_call, nullptr);
  }
  other[sizeof other - 1] = '\0';
  subscribed = code == CUPTI_SUCCESS;
  if (subscribed) {
    watch_graphs(subscriber);
    return {};
  }
  if (code != CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) return words(code);
  return "another profiler is in the program" +
         (other[0] ? " (" + std::string(other) + ")" : std::string()) +
         ", and CUPTI serves one; torch.profiler keeps it also after its last use, unless "
         "TEARDOWN_CUPTI=1 is set";
}

void unsubscribe() {
  cupti.cuptiUnsubscribe(subscriber);
  subscribed = false;
}

/// Subscribes and switches on what is traced. Empty, or why not.
std::string trace_as_subscriber() {
  if (std::string why = subscribe(); !why.empty()) return why;
  if (const auto code = register_buffers(); code != CUPTI_SUCCESS) {
    unsubscribe();
    return words(code);
  }
  if (cupti.cuptiActivityRegisterTimestampCallback)
    cupti.cuptiActivityRegisterTimestampCallback(&now_ns);
  trace(std::exchange(doubted, false));
  if (cupti.cuptiActivityFlushPeriod) cupti.cuptiActivityFlushPeriod(200);
  return {};
}

void put_loss(LossKind kind, std::int64_t count) {
  if (count == 0) return;
  Writer::instance().put(
      Type::loss, Loss{static_cast<std::uint32_t>(kind), 0, static_cast<std::uint64_t>(count)});
}

}  // namespace

WindowLock::WindowLock(int seconds) {
  timespec until{};
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += seconds;
  held_ = pthread_mutex_timedlock(&mutex, &until) == 0;
}

WindowLock::~WindowLock() {
  if (held_) pthread_mutex_unlock(&mutex);
}

bool window_is_open() { return open_window; }

void forget_told() {
  told.clear();
  forget_told_graphs();
}

void begin_watching() {
  if (!settings.own_profiler) subscribe();
}

void begin_tracing() {
  if (trace_as_subscriber().empty() && settings.own_profiler) unsubscribe();
}

bool begin_window(std::uint32_t request) {
  std::string why = why_no_kernels();
  if (why.empty()) why = trace_as_subscriber();
  if (!why.empty()) {
    tell("kernels are not recorded: " + why);
    return false;
  }
  if (!told.empty()) tell("kernels are recorded: the other profiler has let go");
  told.clear();
  forget_seen();
  forget_names();
  forget_launches();
  if (std::exchange(one_before, true)) forget_dropped();
  tell_of_graphs();
  switch_calls_on(subscriber);
  window_start = static_cast<std::int64_t>(now_ns());
  window_request = request;
  window_begins(window_start);
  Writer::instance().put(Type::window, Window{window_start, 0, request, 0});
  Writer::instance().flush();  // the recorder sees it; the program may soon be in another root
  open_window = true;
  return true;
}

bool look_after_window() {
  const auto open_for = static_cast<std::int64_t>(now_ns()) - window_start;
  const Seen now = seen();
  doubted = now.kernels + now.memory == 0 && now.requested > 0 &&
            launches_called() >= kSilentLaunches && open_for > kSilentFor;
  if (doubted) return false;
  tell_of_graphs();
  return true;
}

void close_window() {
  if (!open_window.exchange(false)) return;
  window_end = static_cast<std::int64_t>(now_ns());
  let_calls_go();
  window_ends(window_end);
}

void flush_window() {
  if (window_end != 0) cupti.cuptiActivityFlushAll(0);
}

bool let_go_of_cupti() {
  // A program that a recorder came to keeps what has been tried most: 1 600 times
  // (docs/record.md).
  if (!subscribed || !settings.own_profiler || dormant() || open_window || !calls_are_off())
    return !subscribed;
  unsubscribe();
  return true;
}

void end_window(bool process_ends) {
  close_window();
  if (window_end == 0) return;
  if (process_ends) keep_buffers();
  cupti.cuptiActivityFlushAll(process_ends ? 1 : 0);
  if (process_ends && subscribed) unsubscribe();
  window_is_over();
  const Seen all = seen();
  if (all.kernels + all.memory + all.unfinished == 0) {
    const bool taken = all.requested == 0 && launches_called() > kLaunchesOfABuffer;
    put_loss(taken ? LossKind::taken : LossKind::silent, launches_called());
  }
  put_loss(LossKind::unfinished, all.unfinished);
  tell_of_graphs();
  Writer::instance().put(Type::window,
                         Window{window_start, window_end, window_request, process_ends});
  Writer::instance().flush();
  window_end = 0;
}

}  // namespace gf::inject
