#pragma once

#include <string>
#include <vector>

#include "events/base/value.h"
#include "events/event.h"

namespace shiplog::feeds {

/// The JSON Schema (draft 2020-12) of one kind of event, as a feed contains it.
struct FeedEventSchema {
  std::string kind;  ///< "ObjectCreated"
  Family family = Family::kApi;
  Value schema;
};

/// Of every kind, in the order of the variant. They are the files in schemas/feeds/v1 (a test compares them). Pure.
std::vector<FeedEventSchema> event_schemas();

}  // namespace shiplog::feeds
