#include "services/programs/shiplogd/member_access.h"

#include <utility>

namespace shiplog {

void MemberAccess::start(Options options) {
  io_ = std::make_shared<IoThreads>(2);
  tunnels_ = std::make_unique<MemberTunnels>(MemberTunnels::Options{.io = io_, .executor = options.executor});
  clients_.configure({.io = io_,
                      .open = std::move(options.open),
                      .user_agent = std::move(options.user_agent),
                      .denied_networks = std::move(options.denied_networks),
                      .tunnels = tunnels_.get()});
  options.record->add_observer(clients_);
  search_.configure({.members = &clients_,
                     .kinds = options.kinds,
                     .random = options.random,
                     .most_bytes = options.search_cache_bytes});
  options.record->add_observer(search_);
}

void MemberAccess::load(const State& state) {
  if (io_ == nullptr) return;
  clients_.load(state);
  search_.load(state);
}

void MemberAccess::close() {
  search_.stop();
  clients_.clear();
  tunnels_.reset();
}

void MemberAccess::stop_threads() {
  if (io_) io_->stop();
}

}  // namespace shiplog
