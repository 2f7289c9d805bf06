// Captures are given to others, and command lines hold secrets.
#pragma once

#include <string>
#include <vector>

namespace gf {

/// The words joined by spaces, with *** for what looks like a secret: the value of --password, of
/// TOKEN=…, of user:password@ in addresses, and words that look like access tokens.
std::string masked_command(const std::vector<std::string>& words);

}  // namespace gf
