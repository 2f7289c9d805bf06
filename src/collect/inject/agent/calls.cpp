#include "collect/inject/agent/calls.h"

#include <cupti.h>
#include <sched.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

#include "collect/inject/agent/cupti_functions.h"
#include "collect/inject/agent/graphs.h"
#include "collect/inject/agent/guard.h"
#include "collect/inject/agent/records.h"
#include "collect/inject/agent/windows.h"
#include "collect/inject/agent/writer.h"

namespace gf::inject {

namespace {

constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                         CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2,
                                         CUPTI_ACTIVITY_KIND_MEMSET};
constinit std::atomic<bool> traced{false};

}  // namespace

bool kernels_are_traced() { return traced; }

void let_kernels_go() { cupti.cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL); }

void trace(bool anew) {
  if (traced && !anew) return;
  for (const auto kind : kKinds)
    if (const auto code = cupti.cuptiActivityEnable(kind); code != CUPTI_SUCCESS)
      Writer::instance().message("activity kind " + std::to_string(kind) + ": " + words(code));
  traced = true;
}

namespace {

// Launches, copies, sets and waits: the calls that the analyses ask about. All others would only
// cost time.
constexpr CUpti_CallbackId kRuntime[] = {
    CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000,
    CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_ptsz_v7000,
    CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060,
    CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_ptsz_v11060,
    CUPTI_RUNTIME_TRACE_CBID_cudaLaunchCooperativeKernel_v9000,
    CUPTI_RUNTIME_TRACE_CBID_cudaLaunchCooperativeKernel_ptsz_v9000,
    CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000,
    CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_ptsz_v10000,
    CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_ptsz_v7000,
    CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy2DAsync_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyPeerAsync_v4000,
    CUPTI_RUNTIME_TRACE_CBID_cudaMemset_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaMemsetAsync_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaMemsetAsync_ptsz_v7000,
    CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_ptsz_v7000,
    CUPTI_RUNTIME_TRACE_CBID_cudaEventSynchronize_v3020,
};
constexpr CUpti_CallbackId kDriver[] = {
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync,
    CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async,
    CUPTI_DRIVER_TRACE_CBID_cuMemsetD32Async,
    CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize,
    CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize,
    CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize,
};

struct Name {
  std::uint32_t text;
  bool launch;
};
Name runtime_names[std::size(kRuntime)], driver_names[std::size(kDriver)];
std::atomic<std::int64_t> launches{0};
std::atomic<std::uint32_t> first_call{0}, last_call{0};  // of the window, 0: none yet

template <std::size_t N>
void learn_names(CUpti_CallbackDomain domain, const CUpti_CallbackId (&ids)[N], Name (&names)[N]) {
  for (std::size_t i = 0; i < N; ++i) {
    const char* text = nullptr;
    cupti.cuptiGetCallbackName(domain, ids[i], &text);
    names[i].launch = text && std::string_view(text).find("Launch") != std::string_view::npos;
    names[i].text = call_name(domain, ids[i]);
  }
}

template <std::size_t N>
const Name* find_name(CUpti_CallbackId id, const CUpti_CallbackId (&ids)[N],
                      const Name (&names)[N]) {
  for (std::size_t i = 0; i < N; ++i)
    if (ids[i] == id) return &names[i];
  return nullptr;
}

/// A call's number, as the records of its work give it.
void note_call(std::uint32_t correlation) {
  std::uint32_t none = 0;
  first_call.compare_exchange_strong(none, correlation);
  std::uint32_t known = last_call.load(std::memory_order_relaxed);
  while (known < correlation && !last_call.compare_exchange_weak(known, correlation)) continue;
}

/// A call that began and ended in the window.
void record_call(Thread& thread, bool runtime, CUpti_CallbackId id,
                 const CUpti_CallbackData& call) {
  const auto begin = static_cast<std::int64_t>(*call.correlationData);
  if (begin == 0 || !window_is_open()) return;
  // The runtime's own call of the driver is the same call.
  if (!runtime && call.correlationId == thread.runtime_call) return;
  const Name* name =
      runtime ? find_name(id, kRuntime, runtime_names) : find_name(id, kDriver, driver_names);
  if (!name) return;
  const bool launches_now = name->launch && !thread.captures;
  if (launches_now) ++launches;
  note_call(call.correlationId);
  if (thread.node != 0)
    Writer::instance().put(Type::node, Node{thread.node, 0, call.correlationId, 0});
  Writer::instance().put(Type::api, Api{begin, static_cast<std::int64_t>(now_ns()), id_of(thread),
                                        call.correlationId, name->text, launches_now});
}

}  // namespace

bool call_callbacks(CUpti_SubscriberHandle subscriber, bool on) {
  if (on) {
    learn_names(CUPTI_CB_DOMAIN_RUNTIME_API, kRuntime, runtime_names);
    learn_names(CUPTI_CB_DOMAIN_DRIVER_API, kDriver, driver_names);
  }
  bool agreed = true;
  for (const auto id : kRuntime)
    agreed &=
        cupti.cuptiEnableCallback(on, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API, id) == CUPTI_SUCCESS;
  for (const auto id : kDriver)
    agreed &=
        cupti.cuptiEnableCallback(on, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id) == CUPTI_SUCCESS;
  return agreed;
}

void CUPTIAPI on_call(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  if (see_graphs(domain, id, data)) return;
  const bool runtime = domain == CUPTI_CB_DOMAIN_RUNTIME_API;
  if (!runtime && domain != CUPTI_CB_DOMAIN_DRIVER_API) return;
  const auto& call = *static_cast<const CUpti_CallbackData*>(data);
  Thread* thread = this_thread();
  if (!thread) return;
  if (call.callbackSite == CUPTI_API_ENTER) {
    enter_call(*thread);
    thread->captures = false;
    thread->node = 0;
    if (runtime) thread->runtime_call = call.correlationId;
    *call.correlationData = 0;
    if (window_is_open()) *call.correlationData = now_ns();
    return;
  }
  record_call(*thread, runtime, id, call);
  leave_call(*thread);
}

std::int64_t launches_called() { return launches; }

bool called_before_window(std::uint32_t correlation) {
  const std::uint32_t first = first_call;
  return first == 0 || correlation < first;
}

bool called_in_window(std::uint32_t correlation) {
  const std::uint32_t last = last_call;
  return last == 0 || correlation <= last;
}

void forget_launches() {
  launches = 0;
  first_call = last_call = 0;
}

namespace {

enum class Calls { off, on, asked, switching };

constinit std::atomic<Calls> calls{Calls::off};
constinit CUpti_SubscriberHandle subscriber = nullptr;

// Calls that began so far, times kOne, and the threads that are inside one now.
constexpr std::uint64_t kOne = 1 << 16, kInside = kOne - 1;
constinit std::atomic<std::uint64_t> begun_and_inside{0};

// A thread beside which no other began or ended a call for so long is taken to be alone for the
// some 40 us that switching takes: the forward and the backward thread of a training take turns of
// many ms.
constexpr std::uint64_t kAlone = 2'000'000;  // ns
constinit std::atomic<const Thread*> last_thread{nullptr};
constinit std::atomic<std::uint64_t> alone_since{0};

void seen(const Thread& thread) {
  if (last_thread.exchange(&thread) != &thread) alone_since = now_ns();
}

bool switched(Calls from, Calls to) { return calls.compare_exchange_strong(from, to); }

bool is_alone(const Thread& thread) {
  return last_thread == &thread && now_ns() - alone_since >= kAlone &&
         (begun_and_inside & kInside) == 1;
}

/// On the program's thread, at the end of a call.
void switch_off() {
  const std::uint64_t before = begun_and_inside;
  call_callbacks(subscriber, false);
  if (begun_and_inside / kOne == before / kOne) {
    calls = Calls::off;
    return;
  }
  // Another thread came by meanwhile: the end of its call must be seen.
  call_callbacks(subscriber, true);
  calls = Calls::asked;
}

}  // namespace

void switch_calls_on(CUpti_SubscriberHandle of) {
  for (;;) {
    if (calls == Calls::on || switched(Calls::asked, Calls::on)) return;
    if (switched(Calls::off, Calls::switching)) break;
    sched_yield();  // a thread of the program is switching them off
  }
  subscriber = of;
  call_callbacks(subscriber, true);
  calls = Calls::on;
}

void let_calls_go() { switched(Calls::on, Calls::asked); }

bool calls_are_off() { return calls == Calls::off; }

void enter_call(Thread& thread) {
  if (thread.calls++ > 0) return;
  begun_and_inside += kOne + 1;
  seen(thread);
}

void leave_call(Thread& thread) {
  if (thread.calls == 0) return;  // it began before callbacks were on
  if (--thread.calls > 0) return;
  if (calls == Calls::asked && is_alone(thread) && switched(Calls::asked, Calls::switching))
    switch_off();
  seen(thread);
  --begun_and_inside;
}

}  // namespace gf::inject
