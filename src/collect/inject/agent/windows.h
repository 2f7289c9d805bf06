// A window of recording: what is enabled in CUPTI while it is open.
#pragma once

#include <cstdint>

namespace gf::inject {

/// One window operation at a time, of the library's thread and of the one that calls exit(). At the
/// end of the process no longer than a moment is waited for: a thread that is stuck in CUPTI must
/// not keep the program from ending.
class WindowLock {
 public:
  explicit WindowLock(int seconds = 3600);
  ~WindowLock();
  WindowLock(const WindowLock&) = delete;
  WindowLock& operator=(const WindowLock&) = delete;
  explicit operator bool() const { return held_; }

 private:
  bool held_ = false;
};

// The following with the lock held.

/// Switches on what is traced, before the program uses the GPU: later a set that is being launched
/// at that moment can end the program (docs/record.md). Nothing where another profiler is at work.
void begin_tracing();
/// Watches the graphs that the program makes, for a recorder that comes later.
void begin_watching();
/// `request` is the recorder's, 0: the library's own. False, with a message for the recorder, when
/// CUPTI is not to be had now.
bool begin_window(std::uint32_t request);
/// Nothing that begins from now on is recorded; CUPTI still holds records of what has been
/// launched.
void close_window();
/// Takes what CUPTI has whole. Call it between close_window() and end_window() until nothing comes
/// any more.
void flush_window();
/// Lets go of CUPTI where no window is open and the program's threads have switched their callbacks
/// off, so that a profiler of the program's own may have it, where the user says that there is one
/// (--own-profiler): nobody sees then which graphs the program makes (graphs.h). True when it is
/// let go of.
bool let_go_of_cupti();
/// Ends the window, closed or open. Only where the process ends may CUPTI be made to give out what
/// is unfinished: it goes on writing into that memory when the kernels run.
void end_window(bool process_ends);

/// Call it every now and then while a window is open. False: CUPTI records the program's launches
/// and none of its kernels, so that the window is to be ended and begun again (seen on an H200 in a
/// second window over three streams).
bool look_after_window();

bool window_is_open();

/// For a recorder that has just come: it is told anew why nothing can be recorded.
void forget_told();

}  // namespace gf::inject
