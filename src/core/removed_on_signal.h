// Temporary files that go away when a signal ends the program.
#pragma once

#include <string>

namespace gf {

/// Has `path` removed when SIGINT, SIGTERM, SIGHUP or SIGQUIT ends the program by default. Gives a
/// number for keep_on_signal(); -1 when too many are open or the name is too long.
int remove_on_signal(const std::string& path);
/// Forgets a file; -1 is ignored.
void keep_on_signal(int number);

}  // namespace gf
