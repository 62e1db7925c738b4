#pragma once

namespace shiplog::sandbox {

/// The sandbox process: reads script calls from standard input and writes their results to standard output, one after
/// the other, until the input ends. It has no files, makes no system call but those for memory and its two pipes, and
/// the kernel ends it when one call takes too much processor time. Returns the exit code.
int run_child();

}  // namespace shiplog::sandbox
