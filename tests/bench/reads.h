#pragma once

#include "tests/bench/bench_fleet.h"

namespace shiplog::bench {

/// Reads of one API server: a list of 10,000 objects, complete and in pages; gets, idle and under writes; 1,000 watches
/// with 1,000 writes per second; compared with the throughput of wrk on the same server without work.
void reads(Figures& figures, BenchFleet& fleet);

}  // namespace shiplog::bench
