#include "tests/crash/kill_suite.h"

namespace shiplog::crash {

INSTANTIATE_TEST_SUITE_P(Journal, Kill, ::testing::Values(embedded_journal()), backend_name);

}  // namespace shiplog::crash
