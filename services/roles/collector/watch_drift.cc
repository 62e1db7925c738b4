// Whether an object in a member is still what the dispatcher wrote (E-15).
#include <string>
#include <utility>

#include "events/base/json.h"
#include "events/state/work.h"
#include "services/interpreter/interpreter.h"
#include "services/roles/collector/retained_fields.h"
#include "services/roles/collector/watch.h"
#include "services/runtime/log.h"

namespace shiplog::collector {
namespace {

/// Of the members of an object but some.
template <class Counts>
Hash128 hash_of_members(const Value& object, Counts counts) {
  std::string text;
  for (const auto& [key, value] : object.members()) {
    if (!counts(key.as_string())) continue;
    text.append(key.as_string()).push_back('\0');  // no key of JSON is that character
    append_json(value, text);
  }
  return siphash128(text);
}

/// How often the same addition is taken back while it returns within kLeftAlone.
constexpr int kMostReturns = 3;
constexpr Millis kLeftAlone{600'000};

/// What is compared of an object in a member. `own`: without the fields that its kind keeps from the member. The whole
/// object if an interpreter webhook determines them, which is called for a write alone; then they are not known.
struct Compared {
  Value own;
  bool knows_retained = false;
};

Compared compared(const State& state, const Value& manifest, const Value& object, UtcMillis now) {
  const auto kept = interpreter::retain(state, manifest, object, now);
  if (!kept) return {object, false};
  Value own = kept.value() ? without_retained(object, manifest, *kept.value()) : object;
  return {without_filled_in(std::move(own), manifest), true};
}

}  // namespace

/// A list shows the object as it was when the list was requested, possibly before the last write. If it has been
/// written since, the watch that continues the list reports that.
bool MemberWatches::asked_before_applied(const ObjectKey& work, const Arrived& arrived) const {
  const auto seen = seen_.find(work);
  return arrived.asked != 0 && seen != seen_.end() && arrived.asked < seen->second.applied_moment;
}

/// What is added is taken back, as it may be anything; but a controller of the member that adds it each time would be
/// written against for ever.
bool MemberWatches::keeps_returning(const ManifestRef& place, const Hash128& added, UtcMillis now) {
  Returning& known = returning_[place];
  if (known.added != added || now - known.last > kLeftAlone) known = {added};
  known.last = now;
  return ++known.times > kMostReturns;
}

/// The comparison is with what the object was when the dispatcher last wrote it: a server may spell things differently
/// from the manifest for good. Only without such a memory is the manifest itself the measure.
bool MemberWatches::altered(const State& state, const ObjectKey& work, size_t ordinal, const Arrived& arrived,
                            UtcMillis now) {
  const Value& object = arrived.object;
  const Value& manifest = manifests_of(state.value_of(work))[ordinal];
  const auto hash = annotation_of(object, annotation::kManifestHash);
  if (hash.empty()) return true;  // our labels were removed
  const Baseline* known = baseline_of(work, ordinal);
  // Between two renderings the Work's manifest is one and the same Value, so this comparison costs next to nothing.
  const bool same = known != nullptr && known->manifest == manifest;
  const Hash128 manifest_hash = same ? known->manifest_hash : siphash128(to_json(manifest));
  // Another manifest: a write is under way. If the present one is applied, an older write arrived late and replaced it.
  if (hash != to_string(manifest_hash)) return applied(state.value_of(work)) && !asked_before_applied(work, arrived);
  Content content;
  content.generation = object["metadata"]["generation"].as_int();
  content.metadata = hash_of_members(object["metadata"], [](std::string_view field) {
    return field != "resourceVersion" && field != "generation" && field != "managedFields";
  });
  // A server that counts generations changes them with all but metadata and status, so that most events need no more.
  if (same && content.generation > 0 && known->content.generation == content.generation &&
      known->content.metadata == content.metadata) {
    return known->altered;
  }
  const Compared found = compared(state, manifest, object, now);
  content.rest =
      hash_of_members(found.own, [](std::string_view field) { return field != "metadata" && field != "status"; });
  const bool secret = manifest["kind"].as_string() == "Secret";
  Value wanted = manifest;
  if (secret) {  // sealed in the journal: only the rest can be compared
    wanted.erase("data");
    wanted.erase("stringData");
    wanted.edit("metadata").edit("annotations").erase("kubectl.kubernetes.io/last-applied-configuration");
  }
  const Value revision{annotation_of(object, annotation::kRevision)};
  const bool first = known == nullptr;
  auto& baselines = seen_[work].baselines;
  if (ordinal >= baselines.size()) baselines.resize(ordinal + 1);
  Baseline& baseline = baselines[ordinal];
  baseline.manifest = manifest;
  baseline.manifest_hash = manifest_hash;
  if (first) {
    baseline.revision = revision;
    baseline.written = content.rest;
    baseline.literal = holds(found.own, wanted);
    baseline.altered = !baseline.literal;
  } else if (baseline.revision != revision) {
    // Written anew. Where the member has used our spelling so far, a difference is an alteration from before the
    // first sight of what we wrote; written once more at the most, as from then on it is treated as the member's
    // spelling.
    const bool kept = secret || holds(found.own, wanted);
    baseline.revision = revision;
    baseline.written = content.rest;
    baseline.altered = baseline.literal && !kept;
    baseline.literal = kept;
  } else if (baseline.content != content) {
    // An addition is different from what the member answered to the write, and has all of the manifest as well.
    const bool kept = holds(found.own, wanted);
    const bool another = content.rest != baseline.content.rest;
    bool differs = content.rest != baseline.written && (secret || found.knows_retained) && !deleting(object);
    if (differs && another && kept && !secret && keeps_returning({work, ordinal}, content.rest, now)) {
      log::warn("collector.addition_left", {log::kv("work", to_string(work)),
                                            log::kv("reason", "it was taken back and has returned several times")});
      baseline.written = content.rest;
      differs = false;
    }
    baseline.altered = differs || !kept;
  }
  baseline.content = content;
  return baseline.altered;
}

}  // namespace shiplog::collector
