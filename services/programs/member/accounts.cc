#include "services/programs/member/accounts.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "events/base/json.h"
#include "events/state/object.h"
#include "services/http/private_file.h"
#include "services/runtime/log.h"

namespace shiplog {
namespace {

// In the order in which they can be created again.
constexpr std::array<const char*, 5> kTypes = {type::kNamespace, "clusterroles.rbac.authorization.k8s.io",
                                               "clusterrolebindings.rbac.authorization.k8s.io", "serviceaccounts",
                                               type::kSecret};

bool kept(const Value& object) { return label_of(object, "karmada.io/system") == "true" && !deleting(object); }

bool concerns(const Change& change) {
  return std::ranges::find(kTypes, std::string_view{change.object.type}) != kTypes.end() &&
         (kept(change.before) || kept(change.after));
}

}  // namespace

Result<std::vector<Event>> Accounts::restored() const {
  std::vector<Event> events;
  const auto text = read_file(file_);
  if (!text && text.error().code == ErrorCode::kNotFound) return events;
  if (!text) return text.error();
  const auto list = parse_stored_json(text.value());
  if (!list) return Error{ErrorCode::kCorrupt, file_ + ": " + list.error().message + "; delete it to start over"};
  for (const Value& item : list.value().items()) {
    const ObjectKey key{item["type"].str(), item["namespace"].str(), item["name"].str()};
    events.emplace_back(ObjectCreated{key, item["object"]});
  }
  return events;
}

void Accounts::on_folded(const State& state, const DecodedRecord&, const Folded& folded) {
  if (std::ranges::none_of(folded.changes, concerns)) return;
  Value list = Value::array();
  for (const char* type : kTypes) {
    for (const auto& [name, object] : state.objects(type)) {
      if (!kept(object.value)) continue;
      Value plain = object.value;
      plain.edit("metadata").erase("resourceVersion");
      list.push_back(
          Value::object({{"type", type}, {"namespace", name.ns}, {"name", name.name}, {"object", std::move(plain)}}));
    }
  }
  if (auto written = write_private_file(file_, to_json(list)); !written) {
    log::error("accounts.failed", {log::kv("reason", written.error().message)});
  }
}

}  // namespace shiplog
