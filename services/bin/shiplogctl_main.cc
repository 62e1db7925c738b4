#include <csignal>
#include <iostream>
#include <string>
#include <string_view>

#include "events/journal/embedded/sqlite_journal.h"
#include "services/bin/decides.h"
#include "services/ctl/ctl.h"

namespace {

shiplog::Result<std::shared_ptr<shiplog::Journal>> open_journal(const std::string& name) {
  constexpr std::string_view kScheme = "sqlite:";
  if (!name.starts_with(kScheme) || name.size() == kScheme.size()) {
    return shiplog::Error{shiplog::ErrorCode::kInvalid, "--journal=" + name + ": say sqlite:FILE"};
  }
  shiplog::SqliteJournalOptions options;
  options.create = false;
  SHIPLOG_TRY(auto journal, shiplog::open_sqlite_journal(name.substr(kScheme.size()), options));
  return std::shared_ptr<shiplog::Journal>{std::move(journal)};
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // `| head` ends us through a failed write
  const shiplog::ctl::Backing backing{open_journal, shiplog::all_decides(), "shiplogctl " SHIPLOG_VERSION};
  return shiplog::ctl::run_ctl(argc, argv, backing, std::cout, std::cerr);
}
