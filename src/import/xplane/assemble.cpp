#include "import/xplane/assemble.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

#include "core/machine.h"

namespace gf::xplane {

namespace {

/// Workers take chunks in order, at most `window` ahead of the joined ones, which bounds the memory
/// of waiting parts. One of them at a time joins what is ready, while the others go on decoding.
struct Pool {
  Capture& capture;
  const std::vector<Chunk>& chunks;
  std::string_view file;
  const ImportOptions& options;
  const std::function<void(std::string_view)>& release;
  std::vector<Unplaced>& unplaced;
  std::size_t window;

  std::mutex lock;
  std::condition_variable moved;
  std::vector<std::unique_ptr<Part>> ready;  // decoded, not yet joined: chunk i in place i % window
  std::vector<std::unique_ptr<Part>> spare;  // joined and emptied: their memory serves again
  std::size_t next = 0, joined = 0;
  bool joining = false, stop = false, stopped_by_user = false;
  std::exception_ptr error;

  void work() {
    std::unique_lock held(lock);
    try {
      while (true) {
        moved.wait(held, [&] { return stop || next >= chunks.size() || next < joined + window; });
        if (stop || next >= chunks.size()) return;
        const std::size_t mine = next++;
        std::unique_ptr<Part> part;
        if (!spare.empty()) {
          part = std::move(spare.back());
          spare.pop_back();
        }
        held.unlock();
        if (!part) part = std::make_unique<Part>();
        decode(chunks[mine].bytes, chunks[mine].line, *part);
        held.lock();
        ready[mine % window] = std::move(part);
        if (!joining) join_ready(held);
      }
    } catch (...) {
      if (!held.owns_lock()) held.lock();
      error = std::current_exception();
      stop = true;
      moved.notify_all();
    }
  }

  /// Joins what is ready, and what becomes ready meanwhile. `held` is the lock, given up while rows
  /// are copied.
  void join_ready(std::unique_lock<std::mutex>& held) {
    joining = true;
    while (!stop && joined < chunks.size() && ready[joined % window]) {
      auto part = std::move(ready[joined % window]);
      held.unlock();
      const auto first = static_cast<std::uint32_t>(capture.activities.size());
      for (const auto& kernel : part->unplaced)
        unplaced.push_back({first + kernel.row, kernel.program});
      join_part(capture, *part, file);
      part->clear();
      if (release) release(chunks[joined].bytes);
      const bool go_on =
          !options.progress || options.progress("reading", static_cast<double>(joined + 1) /
                                                               static_cast<double>(chunks.size()));
      held.lock();
      spare.push_back(std::move(part));
      ++joined;
      if (!go_on) stop = stopped_by_user = true;
      moved.notify_all();
    }
    joining = false;
  }
};

}  // namespace

Status assemble(Capture& capture, const std::vector<Chunk>& chunks, std::string_view file,
                const ImportOptions& options, const std::function<void(std::string_view)>& release,
                std::vector<Unplaced>& unplaced) {
  if (chunks.empty()) return {};
  const std::size_t threads =
      std::min<std::size_t>(options.threads ? options.threads : usable_cores(), chunks.size());
  Pool pool{
      capture, chunks, file, options, release, unplaced, std::max<std::size_t>(2, threads * 4)};
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
