#include "services/programs/shiplogctl/decides.h"

#include "services/roles/binder/decide.h"
#include "services/roles/collector/decide.h"
#include "services/roles/dispatcher/decide.h"
#include "services/roles/distributor/decide.h"
#include "services/roles/lifecycle/decide.h"
#include "services/roles/quota/decide.h"
#include "services/roles/rebalancer/decide.h"
#include "services/roles/scaler/decide.h"
#include "services/roles/scheduler/decide.h"
#include "services/roles/taint/decide.h"

namespace shiplog {

std::map<std::string, Decide> all_decides() {
  return {{"binder", binder::decide},         {"collector", collector::decide},
          {"dispatcher", dispatcher::decide}, {"distributor", distributor::decide},
          {"lifecycle", lifecycle::decide},   {"quota", quota::decide},
          {"rebalancer", rebalancer::decide}, {"scaler", scaler::decide},
          {"scheduler", scheduler::decide},   {"taint", taint::decide}};
}

}  // namespace shiplog
