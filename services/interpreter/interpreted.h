#pragma once

#include <string>
#include <utility>
#include <vector>

#include "events/base/result.h"
#include "events/decision.h"
#include "events/state/answers.h"

namespace shiplog::interpreter {

/// Why there is no result. With `questions` nothing has failed: these have to be answered first, `code` is kUnavailable
/// and `message` names what is being waited for. Not convertible to an Error, which would lose them.
class Uninterpreted : private Error {
 public:
  Uninterpreted(Error why) : Error{std::move(why)} {}  // NOLINT(google-explicit-constructor): SHIPLOG_TRY converts
  Uninterpreted(Error why, std::vector<QuestionPtr> asked) : Error{std::move(why)}, questions{std::move(asked)} {}

  using Error::code;
  using Error::message;
  const Error& error() const { return *this; }

  std::vector<QuestionPtr> questions = {};
};

/// A value, an error or questions.
template <class T>
using Interpreted = boost::outcome_v2::basic_result<T, Uninterpreted, boost::outcome_v2::policy::terminate>;

/// A result that no question stands behind.
template <class T>
Interpreted<T> interpreted(Result<T> result) {
  if (!result) return std::move(result).error();
  return std::move(result).value();
}

/// What a decide function answers that has got so far.
inline Result<Decided> decided(Interpreted<Decided> interpreted) {
  if (interpreted) return std::move(interpreted).value();
  Uninterpreted& missing = interpreted.error();
  if (missing.questions.empty()) return missing.error();
  return NeedsAnswers{std::move(missing.questions), std::move(missing.message)};
}

}  // namespace shiplog::interpreter
