// The page of counts that outlives the process (stream.h, Ledger). With the library's lock held.
#pragma once

#include <string>

#include "collect/inject/stream.h"

namespace gf::inject {

class LedgerPage {
 public:
  /// Counts from now on in this file, what was counted before included; the descriptor is closed at
  /// once. Without room for a page, and on file systems where a write into a mapping may find no
  /// room and end the program, counts stay in the process.
  void open(const std::string& path);
  /// Lets go of the file. Counts begin anew.
  void close();
  Ledger* operator->() { return at_; }

 private:
  Ledger own_{};
  Ledger* at_ = &own_;
};

}  // namespace gf::inject
