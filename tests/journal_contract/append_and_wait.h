#pragma once

#include <future>
#include <string>
#include <utility>

#include "events/journal/journal.h"

namespace shiplog {

/// The journal's result of one append. For tests.
inline Result<Offset> append_and_wait(Journal& journal, std::string bytes) {
  std::promise<Result<Offset>> answer;
  journal.append(std::move(bytes), [&](Result<Offset> stored) { answer.set_value(std::move(stored)); });
  return answer.get_future().get();
}

}  // namespace shiplog
