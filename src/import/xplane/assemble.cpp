#include "import/xplane/assemble.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

namespace gf::xplane {

namespace {

/// Workers take chunks in order, at most `window` ahead of the joined ones, which bounds the memory of waiting parts.
struct Pool {
  Capture& capture;
  const std::vector<Chunk>& chunks;
  std::string_view file;
  const ImportOptions& options;
  const std::function<void(std::string_view)>& release;
  std::size_t window;

  std::mutex lock;
  std::condition_variable moved;
  std::vector<std::optional<Part>> ready;
  std::size_t next = 0, joined = 0;
  bool stop = false, stopped_by_user = false;
  std::exception_ptr error;

  void work() {
    std::unique_lock held(lock);
    while (true) {
      moved.wait(held, [&] { return stop || next >= chunks.size() || next < joined + window; });
      if (stop || next >= chunks.size()) return;
      const std::size_t mine = next++;
      held.unlock();
      std::optional<Part> part;
      std::exception_ptr failed;
      try {
        part = decode(chunks[mine].bytes, chunks[mine].line);
      } catch (...) {
        failed = std::current_exception();
      }
      held.lock();
      if (failed) {
        error = failed;
        stop = true;
      } else {
        ready[mine % window] = std::move(part);
        join_ready();
      }
      moved.notify_all();
    }
  }

  void join_ready() {
    try {
      while (joined < chunks.size() && ready[joined % window]) {
        join_part(capture, *ready[joined % window], file);
        ready[joined % window].reset();
        if (release) release(chunks[joined].bytes);
        ++joined;
      }
    } catch (...) {
      error = std::current_exception();
      stop = true;
    }
    if (options.progress && !options.progress("reading", static_cast<double>(joined) / static_cast<double>(chunks.size()))) stop = stopped_by_user = true;
  }
};

}  // namespace

Status assemble(Capture& capture, const std::vector<Chunk>& chunks, std::string_view file, const ImportOptions& options, const std::function<void(std::string_view)>& release) {
  if (chunks.empty()) return {};
  const std::size_t threads = std::min<std::size_t>(options.threads ? options.threads : std::max(1u, std::thread::hardware_concurrency()), chunks.size());
  Pool pool{capture, chunks, file, options, release, std::max<std::size_t>(2, threads * 4)};
  pool.ready.resize(pool.window);
  {
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < threads; ++i) others.emplace_back([&] { pool.work(); });
    pool.work();
  }
  if (pool.stopped_by_user) return fail("reading was stopped", capture.path);
  if (pool.error) std::rethrow_exception(pool.error);
  return {};
}

}  // namespace gf::xplane
