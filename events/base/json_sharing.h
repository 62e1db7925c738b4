#pragma once

#include <memory>

namespace shiplog {

class JsonParts;

/// For reading many stored documents one after another, such as the objects of a fleet, which have much in common. As
/// long as it is there, equal objects and arrays inside of those that its thread reads with parse_stored_json() become
/// the same Value: a text that was seen is not read again, and takes its memory once. It holds some of them until it is
/// destroyed.
/// Threads: lives on one. Of several on a thread the newest counts.
class JsonSharing {
 public:
  JsonSharing();
  JsonSharing(const JsonSharing&) = delete;
  JsonSharing& operator=(const JsonSharing&) = delete;
  ~JsonSharing();

 private:
  std::unique_ptr<JsonParts> parts_;
  JsonParts* before_;
};

}  // namespace shiplog
