#include <csignal>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "services/programs/allocator.h"
#include "services/programs/journals.h"
#include "services/programs/shiplogctl/ctl.h"
#include "services/roles/registry.h"

namespace {

shiplog::Result<std::shared_ptr<shiplog::Journal>> open_journal(const std::string& name,
                                                                const std::vector<std::string>& kafka) {
  return shiplog::open_record({.journal = name, .kafka = kafka});
}

/// Colours only on a terminal that supports them, unless NO_COLOR is set (https://no-color.org).
shiplog::ctl::Terminal terminal_of(int fd) {
  if (::isatty(fd) == 0) return {};
  winsize size{};
  const bool known = ::ioctl(fd, TIOCGWINSZ, &size) == 0;
  const char* no_colour = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  const bool dumb = term == nullptr || std::string_view{term} == "dumb";
  return {known ? size.ws_col : size_t{0}, !dumb && (no_colour == nullptr || *no_colour == '\0')};
}

bool reader_is_gone() {
  pollfd output{STDOUT_FILENO, POLLOUT, 0};
  return ::poll(&output, 1, 0) > 0 && (output.revents & (POLLERR | POLLHUP)) != 0;
}

}  // namespace

int main(int argc, char** argv) {
  shiplog::configure_allocator();
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is reported as a failed write
  const shiplog::ctl::Backing backing{open_journal,
                                      shiplog::all_decides(),
                                      "shiplogctl " SHIPLOG_VERSION,
                                      terminal_of(STDOUT_FILENO),
                                      ::isatty(STDERR_FILENO) != 0,
                                      reader_is_gone};
  return shiplog::ctl::run_ctl(argc, argv, backing, std::cout, std::cerr);
}
