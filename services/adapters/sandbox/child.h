#pragma once

namespace shiplog::sandbox {

/// The sandbox process: reads script calls from standard input and writes their results to standard output, one at a
/// time, until the input ends. It has no files and makes no system calls other than those for memory and its two pipes,
/// and the kernel kills it when one call exceeds its processor time. Returns the exit code.
int run_child();

}  // namespace shiplog::sandbox
