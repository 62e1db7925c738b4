// precompiled_base.h and what decides on the state: for the folders listed in Shiplog.cmake.
#include "cmake/precompiled_base.h"
//
#include "events/decision.h"
#include "events/entry.h"
#include "events/event.h"
#include "events/state/state.h"
