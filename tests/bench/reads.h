#pragma once

#include "tests/bench/bench_fleet.h"

namespace shiplog::bench {

/// One API server: a list of 10,000 objects, whole and in pages; gets alone and while others write; 1,000 watches of
/// what is written 1,000 times a second; beside what wrk gets of the same server where there is nothing to do.
void reads(Figures& figures, Fleet& fleet);

}  // namespace shiplog::bench
