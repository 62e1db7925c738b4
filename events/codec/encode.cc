#include <algorithm>
#include <variant>
#include <vector>

#include "events/base/check.h"
#include "events/base/json.h"
#include "events/base/utf8.h"
#include "events/codec/arena.h"
#include "events/codec/codec.h"
#include "events/codec/encode_placement.h"
#include "events/codec/explanation_codec.h"
#include "events/codec/utf8_repair.h"
#include "events/codec/wire_writer.h"
#include "schemas/events/v1/entry.pb.h"

namespace shiplog {
namespace {

namespace pb = ::shiplog::events::v1;

void put(std::string_view text, std::string* out) {
  if (is_utf8(text)) {
    *out = text;
  } else {
    *out = codec::repaired(text);
  }
}
void put(const std::string& text, std::string* out) { put(std::string_view{text}, out); }
void put(const SharedText& text, std::string* out) { put(text.view(), out); }

void put(const std::vector<std::string>& from, google::protobuf::RepeatedPtrField<std::string>* out) {
  out->Reserve(static_cast<int>(from.size()));
  for (const std::string& text : from) put(text, out->Add());
}

// Null is no bytes.
void put(const Value& value, std::string* out) {
  if (value.is_null()) return;
  append_json(value, *out);
  if (!is_utf8(*out)) *out = codec::repaired(*out);
}

void put(const EntryId& id, std::string* out) {
  if (!id.empty()) out->assign(reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size());
}

void put(const ObjectKey& key, pb::ObjectKey* out) {
  put(key.type, out->mutable_type());
  put(key.ns, out->mutable_namespace_());
  put(key.name, out->mutable_name());
}

void put(const Hash128& hash, pb::Hash* out) {
  out->set_lo(hash.lo);
  out->set_hi(hash.hi);
}

void put(const Explanation& why, pb::Explanation* out) {
  put(why.inputs_digest, out->mutable_inputs_digest());
  codec::write_facts(why, *out->mutable_facts());
}

void put(const Actor& actor, pb::Actor* out) {
  put(actor.user, out->mutable_user());
  put(actor.groups, out->mutable_groups());
  put(actor.service, out->mutable_service());
  put(actor.source_ip, out->mutable_source_ip());
  put(actor.user_agent, out->mutable_user_agent());
}

void put(const Request& request, pb::Request* out) {
  put(request.verb, out->mutable_verb());
  put(request.path, out->mutable_path());
}

void put(const Cause& cause, pb::Cause* out) {
  out->set_revision(cause.revision.value);
  put(cause.entry_id, out->mutable_entry_id());
  put(cause.trace_id, out->mutable_trace_id());
}

void put(const Fence& fence, pb::Fence* out) {
  put(fence.service, out->mutable_service());
  out->set_epoch(fence.epoch);
}

void put(const RequestSource& source, pb::RequestSource* out) {
  put(source.id, out->mutable_id());
  put(source.topic, out->mutable_topic());
  out->set_partition(source.partition);
  out->set_offset(source.offset);
  out->set_done_before(source.done_before);
}

// A message equal to its default is left out: entries are many, and most have no cause, no fence, no explanation.
template <class From, class Message, class Mutable>
void put_unless_default(const From& from, Message* out, Mutable make) {
  if (from != From{}) put(from, (out->*make)());
}

// api

void put(const ObjectCreated& event, pb::Event* out) {
  pb::ObjectCreated* to = out->mutable_object_created();
  put(event.object, to->mutable_object());
  put(event.value, to->mutable_value());
}

void put(const ObjectUpdated& event, pb::Event* out) {
  pb::ObjectUpdated* to = out->mutable_object_updated();
  put(event.object, to->mutable_object());
  put(event.value, to->mutable_value());
}

void put(const StatusUpdated& event, pb::Event* out) {
  pb::StatusUpdated* to = out->mutable_status_updated();
  put(event.object, to->mutable_object());
  put(event.value, to->mutable_value());
}

void put(const DeletionRequested& event, pb::Event* out) {
  pb::DeletionRequested* to = out->mutable_deletion_requested();
  put(event.object, to->mutable_object());
  to->set_grace_seconds(event.grace_seconds);
  put(event.propagation, to->mutable_propagation());
  put_unless_default(event.because, to, &pb::DeletionRequested::mutable_because);
}

void put(const ObjectRemoved& event, pb::Event* out) {
  put(event.object, out->mutable_object_removed()->mutable_object());
}

void put(const RequestDenied& event, pb::Event* out) {
  pb::RequestDenied* to = out->mutable_request_denied();
  put(event.object, to->mutable_object());
  to->set_status(event.status);
  put(event.reason, to->mutable_reason());
  put(event.message, to->mutable_message());
}

void put(const RequestsDenied& event, pb::Event* out) {
  pb::RequestsDenied* to = out->mutable_requests_denied();
  put(event.object, to->mutable_object());
  put(event.verb, to->mutable_verb());
  to->set_status(event.status);
  put(event.reason, to->mutable_reason());
  put(event.message, to->mutable_message());
  to->set_count(event.count);
  to->set_first_ms(event.first.value);
  to->set_last_ms(event.last.value);
}

void put(const MemberRequested& event, pb::Event* out) {
  pb::MemberRequested* to = out->mutable_member_requested();
  put(event.cluster, to->mutable_cluster());
  put(event.method, to->mutable_method());
  put(event.path, to->mutable_path());
  to->set_status(event.status);
}

// scheduling

void put(const BindingPut& event, pb::Event* out) {
  pb::BindingPut* to = out->mutable_binding_put();
  put(event.binding, to->mutable_binding());
  put(event.value, to->mutable_value());
  put_unless_default(event.why, to, &pb::BindingPut::mutable_why);
}

void put(const std::vector<Target>& targets, google::protobuf::RepeatedPtrField<pb::Target>* out) {
  out->Reserve(static_cast<int>(targets.size()));
  for (const Target& target : targets) {
    pb::Target* added = out->Add();
    put(target.cluster, added->mutable_cluster());
    added->set_replicas(target.replicas);
  }
}

void put(const PlacementRefused& event, pb::Event* out) {
  pb::PlacementRefused* to = out->mutable_placement_refused();
  put(event.binding, to->mutable_binding());
  put(event.reason, to->mutable_reason());
  put(event.message, to->mutable_message());
  to->set_observed_generation(event.observed_generation);
  put(event.applied_placement, to->mutable_applied_placement());
  to->set_clear_targets(event.clear_targets);
  put_unless_default(event.why, to, &pb::PlacementRefused::mutable_why);
}

void put(const ReschedulingTriggered& event, pb::Event* out) {
  pb::ReschedulingTriggered* to = out->mutable_rescheduling_triggered();
  put(event.binding, to->mutable_binding());
  put(event.reason, to->mutable_reason());
  to->set_at_ms(event.at.value);
}

void put(const ReplicasDescheduled& event, pb::Event* out) {
  pb::ReplicasDescheduled* to = out->mutable_replicas_descheduled();
  put(event.binding, to->mutable_binding());
  put(event.targets, to->mutable_targets());
  put(event.message, to->mutable_message());
}

void put(const DependenciesResolved& event, pb::Event* out) {
  pb::DependenciesResolved* to = out->mutable_dependencies_resolved();
  put(event.binding, to->mutable_binding());
  put(event.dependencies, to->mutable_dependencies());
  put_unless_default(event.why, to, &pb::DependenciesResolved::mutable_why);
}

void put(const AttachedBindingPut& event, pb::Event* out) {
  pb::AttachedBindingPut* to = out->mutable_attached_binding_put();
  put(event.binding, to->mutable_binding());
  for (const ObjectKey& referrer : event.referrers) put(referrer, to->add_referrers());
  put(event.value, to->mutable_value());
  put_unless_default(event.why, to, &pb::AttachedBindingPut::mutable_why);
}

void put(const QuestionAnswered& event, pb::Event* out) {
  pb::QuestionAnswered* to = out->mutable_question_answered();
  put(event.object, to->mutable_object());
  put(event.operation, to->mutable_operation());
  put(event.asked, to->mutable_asked());
  put(event.basis, to->mutable_basis());
  put(event.answers, to->mutable_answers());
}

// dispatch

void put(const WorkRendered& event, pb::Event* out) {
  pb::WorkRendered* to = out->mutable_work_rendered();
  put(event.work, to->mutable_work());
  put(event.value, to->mutable_value());
  put_unless_default(event.why, to, &pb::WorkRendered::mutable_why);
}

void put(const WorkRemoved& event, pb::Event* out) { put(event.work, out->mutable_work_removed()->mutable_work()); }

void put(const WorkApplied& event, pb::Event* out) {
  pb::WorkApplied* to = out->mutable_work_applied();
  put(event.work, to->mutable_work());
  to->set_generation(event.generation);
  put(event.message, to->mutable_message());
}

void put(const WorkApplyFailed& event, pb::Event* out) {
  pb::WorkApplyFailed* to = out->mutable_work_apply_failed();
  put(event.work, to->mutable_work());
  to->set_generation(event.generation);
  put(event.reason, to->mutable_reason());
  put(event.message, to->mutable_message());
  put(event.cause, to->mutable_cause());
}

void put(const WorkStatusObserved& event, pb::Event* out) {
  pb::WorkStatusObserved* to = out->mutable_work_status_observed();
  put(event.work, to->mutable_work());
  put(event.manifest_statuses, to->mutable_manifest_statuses());
  to->set_generation(event.generation);
}

void put(const StatusAggregated& event, pb::Event* out) {
  pb::StatusAggregated* to = out->mutable_status_aggregated();
  put(event.binding, to->mutable_binding());
  put(event.aggregated_status, to->mutable_aggregated_status());
  to->set_fully_applied(event.fully_applied);
  put(event.reason, to->mutable_reason());
  put(event.message, to->mutable_message());
  put_unless_default(event.template_object, to, &pb::StatusAggregated::mutable_template_object);
  put(event.template_status, to->mutable_template_status());
}

void put(const WorksSynced& event, pb::Event* out) {
  pb::WorksSynced* to = out->mutable_works_synced();
  put(event.object, to->mutable_object());
  to->set_succeeded(event.succeeded);
  put(event.reason, to->mutable_reason());
  put(event.message, to->mutable_message());
  put_unless_default(event.why, to, &pb::WorksSynced::mutable_why);
  to->set_generation(event.generation);
}

// taint

void put(const Taint& taint, pb::Taint* out) {
  put(taint.key, out->mutable_key());
  put(taint.value, out->mutable_value());
  put(taint.effect, out->mutable_effect());
}

void put(const TaintAdded& event, pb::Event* out) {
  pb::TaintAdded* to = out->mutable_taint_added();
  put(event.cluster, to->mutable_cluster());
  put(event.taint, to->mutable_taint());
  put(event.reason, to->mutable_reason());
  put(event.policy, to->mutable_policy());
}

void put(const TaintRemoved& event, pb::Event* out) {
  pb::TaintRemoved* to = out->mutable_taint_removed();
  put(event.cluster, to->mutable_cluster());
  put(event.taint, to->mutable_taint());
  put(event.reason, to->mutable_reason());
  put(event.policy, to->mutable_policy());
}

void put(const EvictionStarted& event, pb::Event* out) {
  pb::EvictionStarted* to = out->mutable_eviction_started();
  put(event.binding, to->mutable_binding());
  put(event.cluster, to->mutable_cluster());
  put(event.reason, to->mutable_reason());
  put(event.message, to->mutable_message());
  put(event.producer, to->mutable_producer());
  to->set_grace_seconds(event.grace_seconds);
  put(event.purge_mode, to->mutable_purge_mode());
  put(event.preserved_labels, to->mutable_preserved_labels());
  put(event.clusters_before, to->mutable_clusters_before());
  to->set_suppress_deletion(event.suppress_deletion);
}

void put(const EvictionFinished& event, pb::Event* out) {
  pb::EvictionFinished* to = out->mutable_eviction_finished();
  put(event.binding, to->mutable_binding());
  put(event.cluster, to->mutable_cluster());
  put(event.reason, to->mutable_reason());
}

void put(const EvictionsPaused& event, pb::Event* out) {
  pb::EvictionsPaused* to = out->mutable_evictions_paused();
  put(event.cluster, to->mutable_cluster());
  put(event.reason, to->mutable_reason());
  put(event.message, to->mutable_message());
}

void put(const EvictionsResumed& event, pb::Event* out) {
  pb::EvictionsResumed* to = out->mutable_evictions_resumed();
  put(event.cluster, to->mutable_cluster());
  put(event.reason, to->mutable_reason());
  put(event.message, to->mutable_message());
}

void put(const FailoverTimerStarted& event, pb::Event* out) {
  pb::FailoverTimerStarted* to = out->mutable_failover_timer_started();
  put(event.binding, to->mutable_binding());
  put(event.cluster, to->mutable_cluster());
  put(event.message, to->mutable_message());
}

void put(const FailoverTimerStopped& event, pb::Event* out) {
  pb::FailoverTimerStopped* to = out->mutable_failover_timer_stopped();
  put(event.binding, to->mutable_binding());
  put(event.cluster, to->mutable_cluster());
  put(event.reason, to->mutable_reason());
}

void put(const HandoverStepTaken& event, pb::Event* out) {
  pb::HandoverStepTaken* to = out->mutable_handover_step_taken();
  put(event.binding, to->mutable_binding());
  put(event.cluster, to->mutable_cluster());
  put(event.step, to->mutable_step());
  put(event.message, to->mutable_message());
}

// quota

void put(const QuotaUsageChanged& event, pb::Event* out) {
  pb::QuotaUsageChanged* to = out->mutable_quota_usage_changed();
  put(event.quota, to->mutable_quota());
  put(event.overall, to->mutable_overall());
  put(event.used, to->mutable_used());
  put(event.aggregated, to->mutable_aggregated());
}

void put(const QuotaRefused& event, pb::Event* out) {
  pb::QuotaRefused* to = out->mutable_quota_refused();
  put(event.binding, to->mutable_binding());
  put(event.quota, to->mutable_quota());
  put(event.message, to->mutable_message());
  to->set_observed_generation(event.observed_generation);
  put_unless_default(event.why, to, &pb::QuotaRefused::mutable_why);
}

// cluster

void put(const ClusterJoined& event, pb::Event* out) {
  pb::ClusterJoined* to = out->mutable_cluster_joined();
  put(event.cluster, to->mutable_cluster());
  put(event.cluster_id, to->mutable_cluster_id());
}

void put(const ClusterObserved& event, pb::Event* out) {
  pb::ClusterObserved* to = out->mutable_cluster_observed();
  put(event.cluster, to->mutable_cluster());
  put(event.status, to->mutable_status());
  to->set_patch(event.patch);
}

void put(const ClusterConditionChanged& event, pb::Event* out) {
  pb::ClusterConditionChanged* to = out->mutable_cluster_condition_changed();
  put(event.cluster, to->mutable_cluster());
  put(event.type, to->mutable_type());
  put(event.status, to->mutable_status());
  put(event.reason, to->mutable_reason());
  put(event.message, to->mutable_message());
}

void put(const ClusterLeft& event, pb::Event* out) {
  pb::ClusterLeft* to = out->mutable_cluster_left();
  put(event.cluster, to->mutable_cluster());
  put(event.reason, to->mutable_reason());
}

// control

void put(const LeaseTaken& event, pb::Event* out) {
  pb::LeaseTaken* to = out->mutable_lease_taken();
  put(event.service, to->mutable_service());
  put(event.holder, to->mutable_holder());
  to->set_epoch(event.epoch);
}

void put(const FoldVersionActivated& event, pb::Event* out) {
  out->mutable_fold_version_activated()->set_version(event.version);
}

void put(const StateHashed& event, pb::Event* out) {
  pb::StateHashed* to = out->mutable_state_hashed();
  to->set_revision(event.revision.value);
  put(event.hash, to->mutable_hash());
}

void put(const SnapshotTaken& event, pb::Event* out) {
  pb::SnapshotTaken* to = out->mutable_snapshot_taken();
  to->set_revision(event.revision.value);
  put(event.hash, to->mutable_hash());
  put(event.location, to->mutable_location());
}

void put(const FeatureGatesSet& event, pb::Event* out) {
  pb::FeatureGatesSet* to = out->mutable_feature_gates_set();
  for (const std::string& name : event.on) put(name, to->add_on());
}

void put(const OptionsSet& event, pb::Event* out) {
  pb::OptionsSet* to = out->mutable_options_set();
  for (const OptionSetting& setting : event.settings) {
    pb::OptionSetting* setting_to = to->add_settings();
    put(setting.name, setting_to->mutable_name());
    put(setting.values, setting_to->mutable_values());
  }
}

// the entry

// What stands before the events, by the numbers of the fields.
void put_head(const Entry& entry, pb::Entry* out) {
  put(entry.id, out->mutable_id());
  out->set_time_ms(entry.time.value);
  put_unless_default(entry.actor, out, &pb::Entry::mutable_actor);
  put_unless_default(entry.request, out, &pb::Entry::mutable_request);
  put_unless_default(entry.cause, out, &pb::Entry::mutable_cause);
  out->set_as_of(entry.as_of.value);
  put_unless_default(entry.fence, out, &pb::Entry::mutable_fence);
  out->set_fold_version(entry.fold_version);
  for (const Expect& expect : entry.expects) {
    pb::Expect* added = out->add_expects();
    put(expect.object, added->mutable_object());
    added->set_revision(expect.revision.value);
  }
}

void put_tail(const Entry& entry, pb::Entry* out) {
  put_unless_default(entry.source, out, &pb::Entry::mutable_source);
  out->set_event_count(static_cast<uint32_t>(entry.events.size()));
}

void put_event(const Event& event, pb::Event* out) {
  std::visit(
      [out](const auto& alternative) {
        using Kind = std::decay_t<decltype(alternative)>;
        // Written without a message, by write_events().
        if constexpr (!std::is_same_v<Kind, PlacementDecided>) put(alternative, out);
      },
      event);
  SHIPLOG_CHECK(out->kind_case() != pb::Event::KIND_NOT_SET, "every event is written as its own kind");
}

void append(const google::protobuf::MessageLite& message, std::string& bytes) {
  SHIPLOG_CHECK(message.AppendToString(&bytes), "an entry of more than 2 GiB cannot be written");
}

/// Of an entry with a placement, which has no message.
void write_events(const Entry& entry, google::protobuf::Arena* arena, std::string& bytes) {
  constexpr uint32_t kEvents = pb::Entry::kEventsFieldNumber;
  for (const Event& event : entry.events) {
    const auto* placement = std::get_if<PlacementDecided>(&event);
    const size_t expected = placement == nullptr ? 0 : codec::roughly_encoded_size(*placement);
    codec::put_measured(
        kEvents, bytes,
        [&] {
          if (placement != nullptr) return codec::write_event(*placement, bytes);
          auto* message = google::protobuf::Arena::CreateMessage<pb::Event>(arena);
          put_event(event, message);
          append(*message, bytes);
        },
        expected);
  }
}

}  // namespace

std::string encode(const Entry& entry) {
  codec::Scratched<pb::Entry> message;
  std::string bytes;
  put_head(entry, &*message);
  size_t placements = 0;
  for (const Event& event : entry.events) {
    if (const auto* placement = std::get_if<PlacementDecided>(&event)) {
      placements += codec::roughly_encoded_size(*placement);
    }
  }
  if (placements > 0) {
    bytes.reserve(placements);
    append(*message, bytes);
    write_events(entry, message->GetArena(), bytes);
    message->Clear();
  } else {
    for (const Event& event : entry.events) put_event(event, message->add_events());
  }
  put_tail(entry, &*message);
  append(*message, bytes);
  return bytes;
}

}  // namespace shiplog
