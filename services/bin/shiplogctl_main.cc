#include <csignal>
#include <iostream>
#include <string>
#include <vector>

#include "services/bin/decides.h"
#include "services/bin/journals.h"
#include "services/ctl/ctl.h"

namespace {

shiplog::Result<std::shared_ptr<shiplog::Journal>> open_journal(const std::string& name,
                                                                const std::vector<std::string>& kafka) {
  return shiplog::open_record({.journal = name, .kafka = kafka});
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // `| head` ends us through a failed write
  const shiplog::ctl::Backing backing{open_journal, shiplog::all_decides(), "shiplogctl " SHIPLOG_VERSION};
  return shiplog::ctl::run_ctl(argc, argv, backing, std::cout, std::cerr);
}
