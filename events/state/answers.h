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

/// Something that has to be asked outside of the journal before a decision can be made: a value that a decide function
/// answers with (NeedsAnswers in events/decision.h), and that the runtime puts to whom it is for. The answer comes back
/// as a QuestionAnswered; from then on it is read from the state.
struct Question {
  ObjectKey object;        ///< what it is about: its answers go with it
  std::string operation;   ///< "InterpretReplica"
  std::string asked;       ///< who is asked: "<configuration>/<webhook>"
  std::string basis;       ///< digest of all that the answer follows from, but for `qualifier`
  std::string qualifier;   ///< tells questions of one basis apart
  Value request;           ///< what is sent, without what differs from call to call
  Value address;           ///< where it is sent
  Millis timeout{10'000};  ///< of one call
  std::string failure;     ///< what the last attempt came to; empty: there was none
  /// No external service is asked, but a script is to be run (services/interpreter/scripts.h). Its result is not
  /// recorded: whoever decides again computes it again.
  bool script = false;
};
using QuestionPtr = std::shared_ptr<const Question>;

/// The answers kept for one operation of one object are an object of their own, in its namespace: history, snapshots
/// and the state's hash know them as any other. It is owned by what it is about, and goes with that.
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

/// Whether these answers are of a webhook that is not configured any more, or about nothing that is left: nobody will
/// ask for them.
bool of_no_webhook(const State& state, const Value& answers);

/// The qualifier of a question that needs none.
inline constexpr const char* kNoQualifier = "-";

}  // namespace shiplog
