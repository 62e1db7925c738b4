#pragma once

#include <string>
#include <utility>
#include <vector>

#include "events/entry.h"

namespace shiplog::api {

/// An entry of the API server's own, which no user has asked for.
inline Entry own_entry(std::string user_agent, std::vector<Event> events) {
  Entry entry;
  entry.actor = {.user = "system:shiplog",
                 .groups = {"system:shiplog"},
                 .service = "api",
                 .source_ip = "",
                 .user_agent = std::move(user_agent)};
  entry.events = std::move(events);
  return entry;
}

}  // namespace shiplog::api
