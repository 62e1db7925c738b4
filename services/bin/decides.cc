#include "services/bin/decides.h"

#include "services/binder/decide.h"
#include "services/collector/decide.h"
#include "services/dispatcher/decide.h"
#include "services/distributor/decide.h"
#include "services/lifecycle/decide.h"
#include "services/quota/decide.h"
#include "services/rebalancer/decide.h"
#include "services/scaler/decide.h"
#include "services/scheduler/decide.h"
#include "services/taint/decide.h"

namespace shiplog {

std::map<std::string, Decide> all_decides() {
  return {{"binder", binder::decide},         {"collector", collector::decide},
          {"dispatcher", dispatcher::decide}, {"distributor", distributor::decide},
          {"lifecycle", lifecycle::decide},   {"quota", quota::decide},
          {"rebalancer", rebalancer::decide}, {"scaler", scaler::decide},
          {"scheduler", scheduler::decide},   {"taint", taint::decide}};
}

}  // namespace shiplog
