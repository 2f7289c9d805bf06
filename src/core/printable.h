// Text from files, programs and drivers may hold anything; terminals and CI logs obey some of it.
#pragma once

#include <string>
#include <string_view>

namespace gf {

/// Text in one line that cannot move the cursor, color the terminal, break the line, turn its
/// direction or hide in it: such characters are spelled out ("\n", "\x1b", "\u202e").
std::string printable(std::string_view text);

/// The same for a text of several lines, whose ends stay, and so do the colors of our own when
/// `keep_colours`. No line begins with "::", and none holds "##[", which CI services take for
/// commands.
std::string printable_lines(std::string_view text, bool keep_colours);

}  // namespace gf
