// The agent's file: records gathered in memory, appended with one write a batch. What a full disk
// had no room for is counted and said when there is room again; when the recorder is gone, its file
// goes too.
//
// The program may close any descriptor and open its own file under the same number, so that each
// write looks first whether the descriptor is still this file (device and inode).
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "collect/inject/agent/graphs.h"
#include "collect/inject/agent/settings.h"
#include "collect/inject/stream.h"

namespace gf::inject {

/// Texts are looked up without a copy.
struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>{}(text);
  }
};

class Writer {
 public:
  /// Made while the library is loaded, and never destroyed: threads of the driver and destructors
  /// of the program's objects may still write while the program ends.
  static Writer& instance();

  template <class T>
  void put(Type type, const T& record) {
    put_bytes(type, &record, sizeof record);
  }
  /// The number of a text, written before its first use. Bounded: past so many texts all new ones
  /// are number 0, "", and so is what is longer than 64 KiB; both are counted. Ranges have a bound
  /// of their own: a program that names each anew takes no room from names of kernels and calls.
  std::uint32_t text(std::string_view text);
  std::uint32_t range_text(std::string_view text);
  /// True if a text has this number.
  bool knows(std::uint64_t text) const { return text <= last_text_; }
  void message(std::string_view text);
  /// `last`: the process ends, so that a recorder that is gone is seen now or never.
  void flush(bool last = false);
  /// Bytes written so far reached the bound, or nobody reads them: nothing more is taken.
  bool full() const { return full_; }
  bool abandoned() const { return abandoned_; }
  /// A child begins a file of its own when it is used; texts keep their numbers there.
  void after_fork_in_child();
  /// For a recorder that has come to a program that runs: a file of its own, with all texts.
  void begin_anew(const Dormant& wanted, std::uint32_t number);
  /// Closes the file, whoever has it now.
  void end_session();

 private:
  friend void make_writer();
  Writer();
  void put_bytes(Type type, const void* record, std::size_t bytes);
  void append(Type type, const void* record, std::size_t bytes, std::string_view tail);
  void write_out();
  void lose_batch(std::uint64_t& lost);
  bool still_ours() const;
  void let_go();
  bool open();
  std::string counts_path() const;
  void repeat_texts();
  void begin_batch();
  void look_for_recorder();
  /// Texts of one use: how many are kept, and how many were too many or too long, not yet told.
  struct Kept {
    std::size_t count = 0;
    std::uint64_t nameless = 0;
  };
  std::uint32_t keep(std::string_view text, Kept& kept, std::size_t most);

  std::string path_, buffer_;
  std::string vital_;  // of the buffer: what a batch that is lost leaves for the next
  LedgerPage ledger_;
  std::uint64_t batch_ = 0;  // records in the buffer that count in the ledger
  std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>> texts_;
  std::uint64_t written_ = 0;                            // bytes
  std::uint64_t lost_to_disk_ = 0, lost_to_memory_ = 0;  // records, not yet told
  std::int64_t size_ = 0, looked_ = 0;
  std::size_t text_bytes_ = 0;  // of all texts as records
  Kept names_, ranges_;
  std::uint64_t heartbeat_ = 0;  // of the recorder, when it was last looked for
  int fd_ = -1;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  pid_t process_ = 0;  // whose file it is
  bool failed_ = false;
  bool greeted_ = false, torn_ = false;  // the file has a Hello; the batch before was lost
  std::atomic<std::uint32_t> last_text_{0};
  std::atomic<bool> full_{false}, abandoned_{false};  // read without the lock
};

}  // namespace gf::inject
