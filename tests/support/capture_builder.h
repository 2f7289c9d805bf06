// Small captures for tests, written so that a reader sees the timeline:
//
//   CaptureBuilder b;
//   b.mark("ProfilerStep#1", 0, 100);
//   b.op("aten::mm", 10, 40);
//   b.launch("sgemm", {20, 30}, {35, 80});   // call [20, 30) on the host, kernel [35, 80) on
//   stream 7 of device 0 Analysis a = *analyze(b.capture, {});
//
// All spans are half-open, in nanoseconds. Every function returns the row that it added.
#pragma once

#include <string_view>

#include "core/time.h"
#include "model/capture.h"

namespace gf::test {

struct CaptureBuilder {
  Capture capture;
  std::int64_t pid = 100;
  std::int64_t next_correlation = 1;

  CaptureBuilder() { capture.format = "test"; }

  std::uint32_t thread(std::int64_t tid) {
    for (std::uint32_t i = 0; i < capture.threads.size(); ++i)
      if (capture.threads.pid[i] == pid && capture.threads.tid[i] == tid) return i;
    const auto row = capture.threads.add();
    capture.threads.pid[row] = pid;
    capture.threads.tid[row] = tid;
    return row;
  }
  std::uint32_t host(HostKind kind, std::string_view name, Nanos start, Nanos end,
                     std::int64_t tid) {
    const auto row = capture.host_ops.add();
    capture.host_ops.start_ns[row] = start;
    capture.host_ops.duration_ns[row] = end - start;
    capture.host_ops.thread[row] = thread(tid);
    capture.host_ops.name[row] = capture.strings.intern(name);
    capture.host_ops.kind[row] = kind;
    return row;
  }
  /// A framework operation; the main thread's tid is the pid, 100.
  std::uint32_t op(std::string_view name, Nanos start, Nanos end, std::int64_t tid = 100) {
    return host(HostKind::op, name, start, end, tid);
  }
  std::uint32_t mark(std::string_view name, Nanos start, Nanos end, std::int64_t tid = 100) {
    return host(HostKind::annotation, name, start, end, tid);
  }
  std::uint32_t python(std::string_view name, Nanos start, Nanos end, std::int64_t tid = 100) {
    return host(HostKind::python, name, start, end, tid);
  }

  std::uint32_t call(ApiKind kind, std::string_view name, Nanos start, Nanos end,
                     std::int64_t correlation = -1, std::int64_t tid = 100) {
    const auto row = capture.api_calls.add();
    capture.api_calls.start_ns[row] = start;
    capture.api_calls.duration_ns[row] = end - start;
    capture.api_calls.thread[row] = thread(tid);
    capture.api_calls.name[row] = capture.strings.intern(name);
    capture.api_calls.kind[row] = kind;
    capture.api_calls.correlation[row] = correlation;
    return row;
  }
  std::uint32_t activity(ActivityKind kind, std::string_view name, Nanos start, Nanos end,
                         std::int64_t correlation = -1, std::int64_t stream = 7,
                         std::int32_t device = 0) {
    const auto row = capture.activities.add();
    capture.activities.start_ns[row] = start;
    capture.activities.duration_ns[row] = end - start;
    capture.activities.device[row] = capture.device_row(device);
    capture.activities.stream[row] = stream;
    capture.activities.name[row] = capture.strings.intern(name);
    capture.activities.kind[row] = kind;
    capture.activities.correlation[row] = correlation;
    return row;
  }
  /// A kernel without a launch record.
  std::uint32_t kernel(std::string_view name, Nanos start, Nanos end, std::int64_t stream = 7,
                       std::int32_t device = 0) {
    return activity(ActivityKind::kernel, name, start, end, -1, stream, device);
  }
  /// A launch call on a host thread and the kernel it started; returns the kernel's row.
  std::uint32_t launch(std::string_view name, Interval host_call, Interval on_device,
                       std::int64_t stream = 7, std::int32_t device = 0, std::int64_t tid = 100) {
    const auto correlation = next_correlation++;
    call(ApiKind::launch, "cudaLaunchKernel", host_call.start, host_call.end, correlation, tid);
    return activity(ActivityKind::kernel, name, on_device.start, on_device.end, correlation, stream,
                    device);
  }
  /// An asynchronous copy and its call; returns the activity's row.
  std::uint32_t copy(CopyKind direction, Interval host_call, Interval on_device,
                     std::int64_t stream = 7, std::int32_t device = 0, std::int64_t tid = 100,
                     std::string_view api = "cudaMemcpyAsync") {
    const auto correlation = next_correlation++;
    call(ApiKind::memcpy, api, host_call.start, host_call.end, correlation, tid);
    const auto row = activity(ActivityKind::memcpy, "Memcpy", on_device.start, on_device.end,
                              correlation, stream, device);
    capture.activities.copy[row] = direction;
    return row;
  }
};

}  // namespace gf::test
