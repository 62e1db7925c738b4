#pragma once

#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "events/base/hash.h"
#include "events/base/ids.h"
#include "events/base/value.h"
#include "events/explanation.h"
#include "events/taint.h"
#include "schemas/events/v1/entry.pb.h"

namespace shiplog::codec {

namespace pb = ::shiplog::events::v1;

/// Turns the fields of messages into those of structs and takes their strings along, as a message is scratch. The first
/// field that is wrong is noted, so that a struct can be read in one expression.
class FieldReader {
 public:
  /// The first field that is wrong, and why; nullopt: none is.
  const std::optional<std::string>& problem() const { return wrong_; }

 protected:
  void wrong(std::string problem) {
    if (!wrong_) wrong_ = std::move(problem);
  }
  /// Puts words in front of the problem that is noted.
  void in_context(const std::string& words) { wrong_ = words + ": " + *wrong_; }

  static std::string text(std::string* from) { return std::move(*from); }

  template <class Strings>
  static std::vector<std::string> texts(Strings* from) {
    return {std::make_move_iterator(from->begin()), std::make_move_iterator(from->end())};
  }

  /// A value that is stored as JSON.
  Value value(const std::string& json, const char* field);
  EntryId id(const std::string& from, const char* field);
  static ObjectKey read(pb::ObjectKey* from);
  static Hash128 read(const pb::Hash& from) { return {.lo = from.lo(), .hi = from.hi()}; }
  static Taint read(pb::Taint* from);
  Explanation read(pb::Explanation* from);

 private:
  Explanation read_text(pb::Explanation* from);

  std::optional<std::string> wrong_;
};

}  // namespace shiplog::codec
