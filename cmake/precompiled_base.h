// What nearly every file includes, parsed once: the standard library's containers, boost::outcome behind Result, and
// values, errors, times and names of objects. A change here compiles everything again; files still include what they
// use (lint reads them without this).
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <boost/outcome/basic_result.hpp>
#include <boost/outcome/policy/terminate.hpp>
#include <boost/outcome/success_failure.hpp>
#include <boost/outcome/try.hpp>

#include "events/base/error.h"
#include "events/base/hash.h"
#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/base/shared_text.h"
#include "events/base/time.h"
#include "events/base/value.h"
