#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/error.h"
#include "events/base/value.h"

namespace shiplog {
struct Schema;
}

namespace shiplog::api {

/// Gathers what is wrong with an object, in Kubernetes' words, so that all of it is reported at once. Of very many
/// errors the first kMost are kept: a request must not make an answer far larger than itself.
class Causes {
 public:
  static constexpr size_t kMost = 100;
  static constexpr size_t kLongestMessage = 4096;  ///< bytes of one message; longer ones lose their middle

  void required(std::string field, std::string_view detail = "");
  void invalid(std::string field, const Value& value, std::string_view detail);
  void not_supported(std::string field, const Value& value, std::initializer_list<std::string_view> supported);
  void duplicate(std::string field, const Value& value);
  void forbidden(std::string field, std::string_view detail);
  void too_long(std::string field, size_t most);
  void too_many(std::string field, size_t items, size_t most);
  /// One that is there already is not repeated. Of two that miss the same field, the one that says more is kept.
  void add(FieldCause cause);
  void add(const Causes& others);

  /// Drops the fields that a schema misses where `found` by the kind's own rules has more to say: about the same field,
  /// or what it lacks. Upstream has no such schema: its Go types have all their fields, with zero values.
  void drop_covered(const Causes& found);
  /// Writes a missing value as the zero value of its type in Go: `0`, `""`, `false`.
  void show_zeros(const Schema& schema);

  bool empty() const { return list_.empty(); }
  const std::vector<FieldCause>& list() const { return list_; }
  /// The last one reports that some were left out.
  std::vector<FieldCause> take();

 private:
  std::vector<FieldCause> list_;
  bool left_out_ = false;
};

/// Adds what `check` finds in `value`, but not in `old` (null: a create): what was wrong before an update, as an older
/// build admitted it, does not refuse the update.
void check_new(const Value& value, const Value& old, const std::function<void(const Value&, Causes&)>& check,
               Causes& causes);

/// "spec.ports[2]"
std::string at(const std::string& field, size_t index);

}  // namespace shiplog::api
