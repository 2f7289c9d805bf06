// Captures are given to others, and command lines, variables and addresses hold secrets.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gf {

/// A text with *** in place of what looks like a secret, wherever in it that stands: the value of
/// --password, TOKEN=… and "api_key": …, user:password@ in addresses and after -u, signatures of
/// addresses, Authorization headers, private keys, access tokens by their beginnings and words that
/// look random. A text past 256 KiB is *** as a whole.
std::string without_secrets(std::string_view text);

/// The same for what stands under a name, which may say that it is a secret, or a mere hash.
std::string without_secrets(std::string_view name, std::string_view value);

/// The words of a command, joined by spaces, without secrets.
std::string masked_command(const std::vector<std::string>& words);

/// The program and the script or module that it runs, without any other word: "python train.py".
std::string program_and_script(const std::vector<std::string>& words);

}  // namespace gf
