// The folder that the agents write into, beside the capture. Only who was told its name reaches it,
// and what is told is a recorded program: it may leave there whatever it likes, and be gone.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "collect/inject/stream.h"

namespace gf {

class AgentsFolder {
 public:
  /// Makes one beside the capture; empty when it cannot be made.
  static std::string make(const std::string& output);

  explicit AgentsFolder(std::string path);
  /// Removes it and what is in it.
  ~AgentsFolder();
  AgentsFolder(const AgentsFolder&) = delete;
  AgentsFolder& operator=(const AgentsFolder&) = delete;

  const std::string& path() const { return path_; }
  /// Names that end like this, `most` at most.
  std::vector<std::string> names(std::string_view suffix, std::size_t most) const;
  /// The processes that are recorded, as far as they are known now.
  void know(const std::vector<pid_t>& processes) { processes_ = processes; }
  /// Opens an agent's file: a plain file with one name, of the user as whom its process runs. -1:
  /// it is not there, or, with a reason in `refused`, it is none.
  int open(const std::string& name, struct stat& status, std::string& refused) const;

 private:
  bool owner_is_right(pid_t process, uid_t owner) const;
  std::string path_;
  int fd_ = -1;
  std::vector<pid_t> processes_;
};

// The recorder's side of the page through which it speaks to the agents (stream.h, Control).

class ControlPage {
 public:
  /// Makes the page's file in the directory; without room or right to do so agents keep to their
  /// own schedule.
  explicit ControlPage(const std::string& directory);
  ~ControlPage();
  ControlPage(const ControlPage&) = delete;
  ControlPage& operator=(const ControlPage&) = delete;

  /// The recorder lives. Call it a few times a second.
  void beat();
  /// All agents begin a window; its number.
  std::uint32_t ask_for_window();

 private:
  inject::Control* page_ = nullptr;
  std::uint32_t asked_ = 0;
};

}  // namespace gf
