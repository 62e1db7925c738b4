#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shiplog::ctl {

/// The most similar word: the one with the fewest edits, if they are few for its length; empty: none.
std::string nearest(std::string_view word, const std::vector<std::string>& words);

/// "; did you mean X?", or nothing.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& words);

}  // namespace shiplog::ctl
