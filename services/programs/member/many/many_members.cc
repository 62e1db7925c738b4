#include "services/programs/member/many/many_members.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace shiplog::member {
namespace {

constexpr Millis kTick{100};
constexpr uint64_t kTicksPerBookmark = 600;

}  // namespace

ManyMembers::ManyMembers(ManyOptions options, Executor& loop) : options_{std::move(options)}, loop_{loop} {
  for (uint32_t number = 1; number <= options_.members; ++number) {
    members_.push_back(std::make_shared<LightMember>(
        LightMember::Options{.name = options_.name + std::to_string(number),
                             .nodes = options_.nodes,
                             .pods = options_.pods,
                             .ready_delay = options_.ready_delay,
                             .token = options_.token,
                             .ca_pem = options_.ca_pem,
                             .hangs = number > options_.members - std::min(options_.members, options_.hanging)},
        loop_));
  }
}

ManyMembers::~ManyMembers() { *alive_ = false; }

Result<std::unique_ptr<ManyMembers>> ManyMembers::start(const ManyOptions& options, Executor& loop) {
  std::unique_ptr<ManyMembers> many{new ManyMembers{options, loop}};
  SHIPLOG_TRY(many->server_,
              HttpServer::start(options.server, [many = many.get()](HttpRequest request, const auto& writer) {
                many->handle(std::move(request), writer);
              }));
  loop.post([many = many.get(), alive = many->alive_] {
    if (*alive) many->tick();
  });
  return many;
}

std::vector<std::pair<std::string, ClientTarget>> ManyMembers::targets() const {
  std::vector<std::pair<std::string, ClientTarget>> targets;
  for (const auto& member : members_) {
    ClientTarget target;
    target.url = server_->url() + "/" + member->name();
    target.ca_pem = options_.ca_pem;
    target.bearer_token = options_.token;
    targets.emplace_back(member->name(), std::move(target));
  }
  return targets;
}

void ManyMembers::handle(HttpRequest request, std::shared_ptr<ResponseWriter> writer) const {
  // "/member7/api/v1/pods"
  const std::string prefix = "/" + options_.name;
  uint32_t number = 0;
  if (request.path.starts_with(prefix)) {
    const char* begin = request.path.data() + prefix.size();
    const auto [end, error] = std::from_chars(begin, request.path.data() + request.path.size(), number);
    if (error == std::errc{} && number >= 1 && number <= members_.size()) {
      request.path.erase(0, static_cast<size_t>(end - request.path.data()));
      return members_[number - 1]->handle(request, std::move(writer));
    }
  }
  HttpResponse other;
  if (request.path == "/hang" && request.method == "POST") {
    const std::string* text = request.query_value("members");
    size_t hanging = 0;
    if (text != nullptr) std::from_chars(text->data(), text->data() + text->size(), hanging);
    for (size_t index = 0; index < members_.size(); ++index) members_[index]->hang(index + hanging >= members_.size());
  } else if (request.path == "/stats") {
    uint64_t bytes = 0;
    uint64_t requests = 0;
    for (const auto& member : members_) {
      bytes += member->bytes_sent();
      requests += member->requests();
    }
    other.body = R"({"bytes":)" + std::to_string(bytes) + R"(,"requests":)" + std::to_string(requests) + "}";
  } else {
    other.status = 404;
    other.body = "there is no such member\n";
  }
  writer->send(std::move(other));
}

void ManyMembers::tick() {
  loop_.post_after(kTick, [this, alive = alive_] {
    if (*alive) tick();
  });
  owed_ += options_.churn * static_cast<double>(kTick.value) / 1000;
  for (; owed_ >= 1; owed_ -= 1) {
    for (const auto& member : members_) member->churn();
  }
  if (++ticks_ % kTicksPerBookmark == 0) {
    for (const auto& member : members_) member->send_bookmarks();
  }
}

}  // namespace shiplog::member
