#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/error.h"
#include "events/base/ids.h"
#include "events/base/time.h"
#include "events/base/value.h"

namespace shiplog {

class State;

/// A request to an external service that a decision needs first: a value that a decide function
/// returns (NeedsAnswers in events/decision.h), and that the runtime sends. The answer is recorded
/// as a QuestionAnswered; from then on it is read from the state.
struct Question {
  ObjectKey object;        ///< its subject: the answers are deleted with it
  std::string operation;   ///< "InterpretReplica"
  std::string source;      ///< whom it is sent to: "<configuration>/<webhook>"
  std::string basis;       ///< digest of all that the answer follows from, but for `qualifier`
  std::string qualifier;   ///< unique among the questions of one basis
  Value request;           ///< what is sent, except for what differs from call to call
  Value address;           ///< where it is sent
  Millis timeout{10'000};  ///< of one call
  std::string failure;     ///< cause of the last failed attempt; empty: there was none
  /// No request is sent, but a script is run (services/interpreter/scripts.h). Its result is not
  /// recorded: the next decision computes it again.
  bool script = false;
};
using QuestionPtr = std::shared_ptr<const Question>;

/// The answers kept for one operation of one object are an object of their own, in its namespace: history, snapshots
/// and the state hash treat them like any other. It is owned by its subject, and deleted with that.
///   {asked, basis, answers: {QUALIFIER: {answer | failure, at}}}
inline constexpr const char* kAnswersType = "answers.control.shiplog.io";
inline constexpr const char* kAnswersApiVersion = "control.shiplog.io/v1";
inline constexpr const char* kAnswersKind = "Answers";
ObjectKey answers_key(const ObjectKey& object, std::string_view operation);

/// Answers to more questions of one basis than this are not kept: all that were are dropped.
inline constexpr size_t kMostAnswersKept = 4096;

/// What State knows of a question.
struct Recorded {
  Value answer;         ///< null with a failure
  std::string failure;  ///< why there is no answer; empty with one
  UtcMillis at;         ///< when it was recorded
};
/// nullopt: nothing was recorded for this basis and qualifier.
std::optional<Recorded> recorded_answer(const State& state, const ObjectKey& object, std::string_view operation,
                                        std::string_view basis, std::string_view qualifier);

/// The type that State keeps ResourceInterpreterWebhookConfigurations under.
inline constexpr const char* kInterpreterWebhookType = "resourceinterpreterwebhookconfigurations.config.karmada.io";

/// Whether these answers are of a webhook that is no longer configured, or their subject is deleted: no decision will
/// read them.
bool answers_obsolete(const State& state, const Value& answers);

/// The qualifier of a question that needs none.
inline constexpr const char* kNoQualifier = "-";

}  // namespace shiplog
