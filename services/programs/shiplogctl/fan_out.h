#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "services/programs/shiplogctl/terminal.h"

namespace shiplog::ctl {

/// How many clusters are asked at the same time.
inline constexpr size_t kMostAtOnce = 32;

/// Calls `work` with 0 to names.size() - 1, on several threads, and returns when all calls have. On a terminal it
/// reports after a second what it is still waiting for.
void in_parallel(const std::vector<std::string>& names, const std::function<void(size_t)>& work, const Output& to,
                 size_t most_at_once = kMostAtOnce);

/// The results of `work`, in the order of `names`.
template <class T>
std::vector<T> collect_in_parallel(const std::vector<std::string>& names, const std::function<T(size_t)>& work,
                                   const Output& to) {
  std::vector<std::optional<T>> found(names.size());
  in_parallel(
      names, [&](size_t index) { found[index].emplace(work(index)); }, to);
  std::vector<T> all;
  all.reserve(found.size());
  for (auto& one : found) all.push_back(std::move(*one));
  return all;
}

}  // namespace shiplog::ctl
