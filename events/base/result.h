#pragma once

#include <boost/outcome/basic_result.hpp>
#include <boost/outcome/policy/terminate.hpp>
#include <boost/outcome/success_failure.hpp>
#include <boost/outcome/try.hpp>

#include "events/base/error.h"

namespace shiplog {

/// A value or an Error. Reading the wrong side is a bug and ends the process.
template <class T>
using Result = boost::outcome_v2::basic_result<T, Error, boost::outcome_v2::policy::terminate>;

/// What a `Result<void>` returns on success: `return ok();`.
inline auto ok() { return boost::outcome_v2::success(); }

}  // namespace shiplog

#define SHIPLOG_TRY(...) BOOST_OUTCOME_TRY(__VA_ARGS__)        // SHIPLOG_TRY(const auto x, f());
#define SHIPLOG_CO_TRY(...) BOOST_OUTCOME_CO_TRY(__VA_ARGS__)  // SHIPLOG_CO_TRY(const auto x, co_await f());
