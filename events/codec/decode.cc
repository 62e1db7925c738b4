#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include <google/protobuf/stubs/logging.h>

#include "events/base/check.h"
#include "events/codec/arena.h"
#include "events/codec/codec.h"
#include "events/codec/read_fields.h"
#include "schemas/events/v1/entry.pb.h"

namespace shiplog {
namespace {

namespace pb = ::shiplog::events::v1;

// "kind 209 (family scheduling)", from what protobuf kept of an event it could not place.
std::string unknown_kind(const std::string& unread) {
  uint32_t tag = 0;
  unsigned shift = 0;
  for (const char c : unread) {
    const auto byte = static_cast<unsigned char>(c);
    tag |= (byte & 0x7FU) << shift;
    shift += 7;
    if ((byte & 0x80U) == 0 || shift > 28) break;
  }
  constexpr unsigned kWireTypeBits = 3;
  const uint32_t number = tag >> kWireTypeBits;
  constexpr std::array kFamilies = {Family::kApi,   Family::kScheduling, Family::kDispatch, Family::kTaint,
                                    Family::kQuota, Family::kCluster,    Family::kControl};
  const uint32_t hundreds = number / 100;  // entry.proto: they name the family
  std::string words = "kind " + std::to_string(number);
  if (hundreds >= 1 && hundreds <= kFamilies.size()) {
    words += " (family " + std::string{name_of(kFamilies[hundreds - 1])} + ")";
  }
  return words;
}

// Reads each event in one expression.
class EntryDecoder : private codec::FieldReader {
  using FieldReader::read;

 public:
  Result<Entry> read(pb::Entry& from) {
    Entry entry = header(from);
    const auto count = static_cast<size_t>(from.events_size());
    if (!from.has_event_count() || from.event_count() != count) {
      wrong("cut short: it has " + std::to_string(count) + " events of " +
            (from.has_event_count() ? std::to_string(from.event_count()) : "an unknown number"));
    }
    entry.events.reserve(count);
    for (pb::Event& event : *from.mutable_events()) {
      if (problem()) break;
      auto made = alternative(event);
      if (made) entry.events.push_back(std::move(*made));
      if (problem()) {
        in_context("event " + std::to_string(event_index(from, event)) + (made ? ", " + kind_name(entry) : ""));
      }
    }
    if (!problem()) {
      SHIPLOG_CHECK(entry.events.size() == count, "an event that cannot be read is an error");
      return entry;
    }
    return Error{ErrorCode::kCorrupt,
                 (entry.id.empty() ? "entry without an id" : "entry " + to_string(entry.id)) + ": " + *problem()};
  }

 private:
  static std::string kind_name(const Entry& entry) { return std::string{name_of(entry.events.back())}; }

  static size_t event_index(const pb::Entry& entry, const pb::Event& event) {
    const auto same = [&](const pb::Event& other) { return &other == &event; };
    return static_cast<size_t>(std::find_if(entry.events().begin(), entry.events().end(), same) -
                               entry.events().begin());
  }

  // The entry without its events

  Entry header(pb::Entry& from) {
    Entry to;
    to.id = id(from.id(), "id");
    to.time = {from.time_ms()};
    if (from.has_actor()) {
      pb::Actor* actor = from.mutable_actor();
      to.actor = {.user = text(actor->mutable_user()),
                  .groups = texts(actor->mutable_groups()),
                  .service = text(actor->mutable_service()),
                  .source_ip = text(actor->mutable_source_ip()),
                  .user_agent = text(actor->mutable_user_agent())};
    }
    if (from.has_request()) {
      to.request = {text(from.mutable_request()->mutable_verb()), text(from.mutable_request()->mutable_path())};
    }
    if (from.has_cause()) {
      to.cause = {.revision = {from.cause().revision()},
                  .entry_id = id(from.cause().entry_id(), "cause.entry_id"),
                  .trace_id = text(from.mutable_cause()->mutable_trace_id())};
    }
    to.as_of = {from.as_of()};
    if (from.has_fence()) to.fence = {text(from.mutable_fence()->mutable_service()), from.fence().epoch()};
    to.fold_version = from.fold_version();
    if (from.has_source()) {
      pb::RequestSource* source = from.mutable_source();
      to.source = {.id = text(source->mutable_id()),
                   .topic = text(source->mutable_topic()),
                   .partition = source->partition(),
                   .offset = source->offset(),
                   .done_before = source->done_before()};
    }
    to.expects.reserve(static_cast<size_t>(from.expects_size()));
    for (pb::Expect& expect : *from.mutable_expects()) {
      to.expects.push_back({.object = read(expect.mutable_object()), .revision = {expect.revision()}});
    }
    return to;
  }

  // Events. Every field is named, so that one forgotten here is a warning and hence an error.

  ObjectCreated read(pb::ObjectCreated* from) {
    return {.object = read(from->mutable_object()), .value = value(from->value(), "value")};
  }

  ObjectUpdated read(pb::ObjectUpdated* from) {
    return {.object = read(from->mutable_object()), .value = value(from->value(), "value")};
  }

  StatusUpdated read(pb::StatusUpdated* from) {
    return {.object = read(from->mutable_object()), .value = value(from->value(), "value")};
  }

  static DeletionRequested read(pb::DeletionRequested* from) {
    return {.object = read(from->mutable_object()),
            .grace_seconds = from->grace_seconds(),
            .propagation = text(from->mutable_propagation()),
            .because = read(from->mutable_because())};
  }

  static ObjectRemoved read(pb::ObjectRemoved* from) { return {.object = read(from->mutable_object())}; }

  static RequestDenied read(pb::RequestDenied* from) {
    return {.object = read(from->mutable_object()),
            .status = from->status(),
            .reason = text(from->mutable_reason()),
            .message = text(from->mutable_message())};
  }

  static RequestsDenied read(pb::RequestsDenied* from) {
    return {.object = read(from->mutable_object()),
            .verb = text(from->mutable_verb()),
            .status = from->status(),
            .reason = text(from->mutable_reason()),
            .message = text(from->mutable_message()),
            .count = from->count(),
            .first = UtcMillis{from->first_ms()},
            .last = UtcMillis{from->last_ms()}};
  }

  static MemberRequested read(pb::MemberRequested* from) {
    return {.cluster = read(from->mutable_cluster()),
            .method = text(from->mutable_method()),
            .path = text(from->mutable_path()),
            .status = from->status()};
  }

  BindingPut read(pb::BindingPut* from) {
    return {.binding = read(from->mutable_binding()),
            .value = value(from->value(), "value"),
            .why = read(from->mutable_why())};
  }

  static std::vector<Target> read(google::protobuf::RepeatedPtrField<pb::Target>* from) {
    std::vector<Target> targets;
    targets.reserve(static_cast<size_t>(from->size()));
    for (pb::Target& target : *from) targets.push_back({text(target.mutable_cluster()), target.replicas()});
    return targets;
  }

  PlacementDecided read(pb::PlacementDecided* from) {
    PlacementDecided to{.binding = read(from->mutable_binding()),
                        .targets = read(from->mutable_targets()),
                        .observed_generation = from->observed_generation(),
                        .applied_placement = text(from->mutable_applied_placement()),
                        .affinity_name = text(from->mutable_affinity_name()),
                        .why = read(from->mutable_why())};
    for (pb::ComponentReplicas& component : *from->mutable_components()) {
      to.components.push_back({text(component.mutable_name()), component.replicas()});
    }
    return to;
  }

  PlacementRefused read(pb::PlacementRefused* from) {
    return {.binding = read(from->mutable_binding()),
            .reason = text(from->mutable_reason()),
            .message = text(from->mutable_message()),
            .observed_generation = from->observed_generation(),
            .applied_placement = text(from->mutable_applied_placement()),
            .clear_targets = from->clear_targets(),
            .why = read(from->mutable_why())};
  }

  static ReschedulingTriggered read(pb::ReschedulingTriggered* from) {
    return {.binding = read(from->mutable_binding()),
            .reason = text(from->mutable_reason()),
            .at = UtcMillis{from->at_ms()}};
  }

  static ReplicasDescheduled read(pb::ReplicasDescheduled* from) {
    return {.binding = read(from->mutable_binding()),
            .targets = read(from->mutable_targets()),
            .message = text(from->mutable_message())};
  }

  DependenciesResolved read(pb::DependenciesResolved* from) {
    return {.binding = read(from->mutable_binding()),
            .dependencies = value(from->dependencies(), "dependencies"),
            .why = read(from->mutable_why())};
  }

  AttachedBindingPut read(pb::AttachedBindingPut* from) {
    AttachedBindingPut to{.binding = read(from->mutable_binding()),
                          .referrers = {},
                          .value = value(from->value(), "value"),
                          .why = read(from->mutable_why())};
    to.referrers.reserve(static_cast<size_t>(from->referrers_size()));
    for (pb::ObjectKey& referrer : *from->mutable_referrers()) to.referrers.push_back(read(&referrer));
    return to;
  }

  QuestionAnswered read(pb::QuestionAnswered* from) {
    return {.object = read(from->mutable_object()),
            .operation = text(from->mutable_operation()),
            .asked = text(from->mutable_asked()),
            .basis = text(from->mutable_basis()),
            .answers = value(from->answers(), "answers")};
  }

  WorkRendered read(pb::WorkRendered* from) {
    return {
        .work = read(from->mutable_work()), .value = value(from->value(), "value"), .why = read(from->mutable_why())};
  }

  static WorkRemoved read(pb::WorkRemoved* from) { return {.work = read(from->mutable_work())}; }

  static WorkApplied read(pb::WorkApplied* from) {
    return {
        .work = read(from->mutable_work()), .generation = from->generation(), .message = text(from->mutable_message())};
  }

  static WorkApplyFailed read(pb::WorkApplyFailed* from) {
    return {.work = read(from->mutable_work()),
            .generation = from->generation(),
            .reason = text(from->mutable_reason()),
            .message = text(from->mutable_message()),
            .cause = text(from->mutable_cause())};
  }

  WorkStatusObserved read(pb::WorkStatusObserved* from) {
    return {.work = read(from->mutable_work()),
            .manifest_statuses = value(from->manifest_statuses(), "manifest_statuses"),
            .generation = from->generation()};
  }

  StatusAggregated read(pb::StatusAggregated* from) {
    return {.binding = read(from->mutable_binding()),
            .aggregated_status = value(from->aggregated_status(), "aggregated_status"),
            .fully_applied = from->fully_applied(),
            .reason = text(from->mutable_reason()),
            .message = text(from->mutable_message()),
            .template_object = read(from->mutable_template_object()),
            .template_status = value(from->template_status(), "template_status")};
  }

  WorksSynced read(pb::WorksSynced* from) {
    return {.object = read(from->mutable_object()),
            .succeeded = from->succeeded(),
            .reason = text(from->mutable_reason()),
            .message = text(from->mutable_message()),
            .why = read(from->mutable_why()),
            .generation = from->generation()};
  }

  static TaintAdded read(pb::TaintAdded* from) {
    return {.cluster = read(from->mutable_cluster()),
            .taint = read(from->mutable_taint()),
            .reason = text(from->mutable_reason()),
            .policy = text(from->mutable_policy())};
  }

  static TaintRemoved read(pb::TaintRemoved* from) {
    return {.cluster = read(from->mutable_cluster()),
            .taint = read(from->mutable_taint()),
            .reason = text(from->mutable_reason()),
            .policy = text(from->mutable_policy())};
  }

  EvictionStarted read(pb::EvictionStarted* from) {
    return {.binding = read(from->mutable_binding()),
            .cluster = text(from->mutable_cluster()),
            .reason = text(from->mutable_reason()),
            .message = text(from->mutable_message()),
            .producer = text(from->mutable_producer()),
            .grace_seconds = from->grace_seconds(),
            .purge_mode = text(from->mutable_purge_mode()),
            .preserved_labels = value(from->preserved_labels(), "preserved_labels"),
            .clusters_before = texts(from->mutable_clusters_before()),
            .suppress_deletion = from->suppress_deletion()};
  }

  static EvictionFinished read(pb::EvictionFinished* from) {
    return {.binding = read(from->mutable_binding()),
            .cluster = text(from->mutable_cluster()),
            .reason = text(from->mutable_reason())};
  }

  static EvictionsPaused read(pb::EvictionsPaused* from) {
    return {.cluster = read(from->mutable_cluster()),
            .reason = text(from->mutable_reason()),
            .message = text(from->mutable_message())};
  }

  static EvictionsResumed read(pb::EvictionsResumed* from) {
    return {.cluster = read(from->mutable_cluster()),
            .reason = text(from->mutable_reason()),
            .message = text(from->mutable_message())};
  }

  static FailoverTimerStarted read(pb::FailoverTimerStarted* from) {
    return {.binding = read(from->mutable_binding()),
            .cluster = text(from->mutable_cluster()),
            .message = text(from->mutable_message())};
  }

  static FailoverTimerStopped read(pb::FailoverTimerStopped* from) {
    return {.binding = read(from->mutable_binding()),
            .cluster = text(from->mutable_cluster()),
            .reason = text(from->mutable_reason())};
  }

  static HandoverStepTaken read(pb::HandoverStepTaken* from) {
    return {.binding = read(from->mutable_binding()),
            .cluster = text(from->mutable_cluster()),
            .step = text(from->mutable_step()),
            .message = text(from->mutable_message())};
  }

  QuotaUsageChanged read(pb::QuotaUsageChanged* from) {
    return {.quota = read(from->mutable_quota()),
            .overall = value(from->overall(), "overall"),
            .used = value(from->used(), "used"),
            .aggregated = value(from->aggregated(), "aggregated")};
  }

  QuotaRefused read(pb::QuotaRefused* from) {
    return {.binding = read(from->mutable_binding()),
            .quota = read(from->mutable_quota()),
            .message = text(from->mutable_message()),
            .observed_generation = from->observed_generation(),
            .why = read(from->mutable_why())};
  }

  static ClusterJoined read(pb::ClusterJoined* from) {
    return {.cluster = read(from->mutable_cluster()), .cluster_id = text(from->mutable_cluster_id())};
  }

  ClusterObserved read(pb::ClusterObserved* from) {
    return {
        .cluster = read(from->mutable_cluster()), .status = value(from->status(), "status"), .patch = from->patch()};
  }

  static ClusterConditionChanged read(pb::ClusterConditionChanged* from) {
    return {.cluster = read(from->mutable_cluster()),
            .type = text(from->mutable_type()),
            .status = text(from->mutable_status()),
            .reason = text(from->mutable_reason()),
            .message = text(from->mutable_message())};
  }

  static ClusterLeft read(pb::ClusterLeft* from) {
    return {.cluster = read(from->mutable_cluster()), .reason = text(from->mutable_reason())};
  }

  static LeaseTaken read(pb::LeaseTaken* from) {
    return {.service = text(from->mutable_service()), .holder = text(from->mutable_holder()), .epoch = from->epoch()};
  }

  static FoldVersionActivated read(pb::FoldVersionActivated* from) { return {.version = from->version()}; }

  static StateHashed read(pb::StateHashed* from) {
    return {.revision = {from->revision()}, .hash = read(from->hash())};
  }

  static SnapshotTaken read(pb::SnapshotTaken* from) {
    return {.revision = {from->revision()}, .hash = read(from->hash()), .location = text(from->mutable_location())};
  }

  static FeatureGatesSet read(pb::FeatureGatesSet* from) {
    FeatureGatesSet to;
    for (std::string& name : *from->mutable_on()) to.on.push_back(text(&name));
    return to;
  }

  static OptionsSet read(pb::OptionsSet* from) {
    OptionsSet to;
    for (pb::OptionSetting& setting : *from->mutable_settings()) {
      to.settings.push_back({text(setting.mutable_name()), texts(setting.mutable_values())});
    }
    return to;
  }

  // Nothing, with a note, when the kind is not known. No default: a kind added to the schema must be added here.
  std::optional<Event> alternative(pb::Event& from) {
    // clang-format off
    switch (from.kind_case()) {
      case pb::Event::kObjectCreated: return read(from.mutable_object_created());
      case pb::Event::kObjectUpdated: return read(from.mutable_object_updated());
      case pb::Event::kStatusUpdated: return read(from.mutable_status_updated());
      case pb::Event::kDeletionRequested: return read(from.mutable_deletion_requested());
      case pb::Event::kObjectRemoved: return read(from.mutable_object_removed());
      case pb::Event::kRequestDenied: return read(from.mutable_request_denied());
      case pb::Event::kRequestsDenied: return read(from.mutable_requests_denied());
      case pb::Event::kMemberRequested: return read(from.mutable_member_requested());
      case pb::Event::kBindingPut: return read(from.mutable_binding_put());
      case pb::Event::kPlacementDecided: return read(from.mutable_placement_decided());
      case pb::Event::kPlacementRefused: return read(from.mutable_placement_refused());
      case pb::Event::kReschedulingTriggered: return read(from.mutable_rescheduling_triggered());
      case pb::Event::kDependenciesResolved: return read(from.mutable_dependencies_resolved());
      case pb::Event::kAttachedBindingPut: return read(from.mutable_attached_binding_put());
      case pb::Event::kQuestionAnswered: return read(from.mutable_question_answered());
      case pb::Event::kReplicasDescheduled: return read(from.mutable_replicas_descheduled());
      case pb::Event::kWorkRendered: return read(from.mutable_work_rendered());
      case pb::Event::kWorkRemoved: return read(from.mutable_work_removed());
      case pb::Event::kWorkApplied: return read(from.mutable_work_applied());
      case pb::Event::kWorkApplyFailed: return read(from.mutable_work_apply_failed());
      case pb::Event::kWorkStatusObserved: return read(from.mutable_work_status_observed());
      case pb::Event::kStatusAggregated: return read(from.mutable_status_aggregated());
      case pb::Event::kWorksSynced: return read(from.mutable_works_synced());
      case pb::Event::kTaintAdded: return read(from.mutable_taint_added());
      case pb::Event::kTaintRemoved: return read(from.mutable_taint_removed());
      case pb::Event::kEvictionStarted: return read(from.mutable_eviction_started());
      case pb::Event::kEvictionFinished: return read(from.mutable_eviction_finished());
      case pb::Event::kEvictionsPaused: return read(from.mutable_evictions_paused());
      case pb::Event::kEvictionsResumed: return read(from.mutable_evictions_resumed());
      case pb::Event::kFailoverTimerStarted: return read(from.mutable_failover_timer_started());
      case pb::Event::kFailoverTimerStopped: return read(from.mutable_failover_timer_stopped());
      case pb::Event::kHandoverStepTaken: return read(from.mutable_handover_step_taken());
      case pb::Event::kQuotaUsageChanged: return read(from.mutable_quota_usage_changed());
      case pb::Event::kQuotaRefused: return read(from.mutable_quota_refused());
      case pb::Event::kClusterJoined: return read(from.mutable_cluster_joined());
      case pb::Event::kClusterObserved: return read(from.mutable_cluster_observed());
      case pb::Event::kClusterConditionChanged: return read(from.mutable_cluster_condition_changed());
      case pb::Event::kClusterLeft: return read(from.mutable_cluster_left());
      case pb::Event::kLeaseTaken: return read(from.mutable_lease_taken());
      case pb::Event::kFoldVersionActivated: return read(from.mutable_fold_version_activated());
      case pb::Event::kStateHashed: return read(from.mutable_state_hashed());
      case pb::Event::kSnapshotTaken: return read(from.mutable_snapshot_taken());
      case pb::Event::kFeatureGatesSet: return read(from.mutable_feature_gates_set());
      case pb::Event::kOptionsSet: return read(from.mutable_options_set());
      case pb::Event::KIND_NOT_SET: break;
    }
    // clang-format on
    const std::string unread = from.SerializeAsString();  // without a kind only what could not be placed is left
    wrong(unread.empty() ? "it is of no kind"
                         : unknown_kind(unread) +
                               " is not known to this build: a newer one wrote it. Run that version or a later one");
    return std::nullopt;
  }
};

}  // namespace

Result<Entry> decode(std::string_view bytes) {
  // The library prints what it finds wrong; here that is the caller's error to report. Nothing else uses the library.
  [[maybe_unused]] static const auto former_handler = google::protobuf::SetLogHandler(nullptr);
  codec::Scratched<pb::Entry> message;
  if (!message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return Error{ErrorCode::kCorrupt, "these " + std::to_string(bytes.size()) + " bytes are not an entry"};
  }
  return EntryDecoder{}.read(*message);
}

}  // namespace shiplog
