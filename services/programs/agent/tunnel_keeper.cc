#include "services/programs/agent/tunnel_keeper.h"

#include <algorithm>
#include <utility>

namespace shiplog::agent {
namespace {

constexpr Millis kOpenTimeout{10'000};
constexpr int64_t kFirstTunnelPauseMs = 200;
constexpr int64_t kLongestTunnelPauseMs = 30'000;
/// No such path, a control plane without tunnels: it may be upgraded one day.
constexpr int64_t kUnsupportedPauseMs = 300'000;

}  // namespace

Result<TunnelTarget> tunnel_target(const std::string& url) {
  const bool tls = url.starts_with("https://");
  if (!tls && !url.starts_with("http://")) {
    return Error{ErrorCode::kInvalid, "the member's url \"" + url + "\" must begin with https:// or http://"};
  }
  std::string authority = url.substr(url.find("//") + 2);
  authority = authority.substr(0, authority.find('/'));
  TunnelTarget target{authority, tls ? "443" : "80"};
  const size_t colon = authority.rfind(':');
  if (colon != std::string::npos && authority.find(']', colon) == std::string::npos) {
    target = {authority.substr(0, colon), authority.substr(colon + 1)};
  }
  if (target.host.starts_with('[') && target.host.ends_with(']')) {
    target.host = target.host.substr(1, target.host.size() - 2);
  }
  return target;
}

TunnelKeeper::TunnelKeeper(Options options) : options_{std::move(options)} {
  later(options_.spread_every, [this] { spread(); });
}

TunnelKeeper::~TunnelKeeper() {
  *alive_ = false;
  for (const auto& [number, open] : waiting_) open.stream->close();
}

void TunnelKeeper::use(const ClientTarget& control_plane, const std::string& member_url) {
  ++generation_;
  const auto target = tunnel_target(member_url);
  HttpClient::Options http;
  http.user_agent = options_.user_agent;
  auto client = HttpClient::create(options_.io, through_environment_proxy(control_plane, options_.environment), http);
  if (!target || !client) {
    client_.reset();
    return failed(target ? client.error() : target.error());
  }
  target_ = target.value();
  client_ = std::move(client).value();
  for (const auto& [number, open] : std::exchange(waiting_, {})) open.stream->close();
  opening_ = 0;
  fill();
}

void TunnelKeeper::fill() {
  while (client_ != nullptr && !paused_ && waiting_.size() + opening_ < options_.waiting) open();
}

void TunnelKeeper::open() {
  ++opening_;
  HttpRequest request;
  request.path = "/shiplog/v1/tunnels/" + options_.cluster;
  request.headers = {{"Connection", "Upgrade"}, {"Upgrade", kTunnelProtocol}};
  client_->upgrade(std::move(request), kOpenTimeout,
                   [this, executor = options_.executor, alive = alive_, generation = generation_,
                    kept = client_](Result<HttpClient::Upgraded> upgraded) {
                     executor->post([this, alive, generation, kept, upgraded = std::move(upgraded)]() mutable {
                       if (*alive) opened(generation, std::move(upgraded));
                     });
                   });
}

void TunnelKeeper::opened(uint64_t generation, Result<HttpClient::Upgraded> upgraded) {
  if (generation != generation_) return;
  --opening_;
  if (!upgraded) return failed(upgraded.error());
  const HttpResponse& response = upgraded.value().response;
  if (upgraded.value().stream == nullptr) {
    return failed(
        {response.status == 404 ? ErrorCode::kNotFound : ErrorCode::kUnavailable,
         "opening a tunnel: HTTP status " + std::to_string(response.status) + ": " + response.body.substr(0, 300)});
  }
  failures_ = 0;
  if (options_.trouble) options_.trouble(nullptr);
  const uint64_t number = ++numbers_;
  waiting_[number] = {std::string{response.headers.get("Shiplog-Server")}, upgraded.value().stream};
  const auto gone = [this, executor = options_.executor, alive = alive_, number] {
    executor->post([this, alive, number] {
      if (!*alive) return;
      waiting_.erase(number);
      fill();
    });
  };
  serve_tunnel(options_.io, std::move(upgraded.value().stream), target_, gone, gone);
}

void TunnelKeeper::failed(const Error& error) {
  if (options_.trouble) options_.trouble(&error);
  if (std::exchange(paused_, true)) return;
  const int64_t longest = error.code == ErrorCode::kNotFound ? kUnsupportedPauseMs : kLongestTunnelPauseMs;
  const int64_t pause = std::min(longest, kFirstTunnelPauseMs << std::min(failures_++, 11));
  const auto jitter = static_cast<int64_t>(random_below(*options_.random, static_cast<uint64_t>(pause)));
  later(Millis{pause / 2 + jitter / 2}, [this] {
    paused_ = false;
    fill();
  });
}

/// Of the server that has the most, one is closed, and opened again at any. Nothing happens while all are at one, if
/// only one is ever met.
void TunnelKeeper::spread() {
  later(options_.spread_every, [this] { spread(); });
  if (waiting_.size() < options_.waiting) return;
  std::map<std::string, size_t> counts;
  for (const auto& [number, open] : waiting_) ++counts[open.server];
  const auto fullest = std::ranges::max_element(counts, {}, [](const auto& count) { return count.second; });
  if (fullest->second < 2) return;
  for (const auto& [number, open] : waiting_) {
    if (open.server == fullest->first) return open.stream->close();
  }
}

void TunnelKeeper::later(Millis delay, std::function<void()> run) {
  options_.executor->post_after(delay, [alive = alive_, run = std::move(run)] {
    if (*alive) run();
  });
}

}  // namespace shiplog::agent
