#include "tests/simulation/members.h"

#include <utility>

#include "tests/simulation/world.h"

namespace shiplog::simulation {

SimMembers::SimMembers(World& world, Chance& chance, Executor& executor, std::string who)
    : world_{world}, chance_{chance}, executor_{executor}, who_{std::move(who)} {}

SimMembers::~SimMembers() { *alive_ = false; }

bool SimMembers::apart_from(const std::string& cluster) const {
  const auto found = world_.network.apart.find({who_.substr(0, who_.find('.')), cluster});
  return found != world_.network.apart.end() && world_.timeline.now() < found->second;
}

void SimMembers::request(const std::string& cluster, MemberRequest request,
                         std::function<void(Result<MemberResponse>)> done) {
  const auto answer = [alive = alive_, executor = &executor_, done = std::move(done)](Result<MemberResponse> response) {
    if (!*alive) return;
    executor->post([alive, done, response = std::move(response)] {
      if (*alive) done(response);
    });
  };
  const auto time_out = [this, answer, timeout = request.timeout, cluster] {
    world_.timeline.after(timeout, [answer, cluster] {
      answer(Error{ErrorCode::kTimeout, "cluster " + cluster + ": no answer in time"});
    });
  };
  if (apart_from(cluster)) {
    world_.count("request of a process apart");
    if (chance_.permille(500)) return time_out();
    return answer(Error{ErrorCode::kUnavailable, "cluster " + cluster + ": no route to host"});
  }
  if (chance_.permille(world_.network.lost_request)) {
    world_.count("network lost-request");
    return time_out();
  }
  const bool lost_answer = chance_.permille(world_.network.lost_answer);
  if (lost_answer) {
    world_.count("network lost-answer");
    time_out();
  }
  const Millis held_up{chance_.permille(world_.network.held_up) ? chance_.between(100, 5000) : 0};
  if (held_up.value > 0) world_.count("network held-up");
  if (world_.sabotage == Sabotage::kIgnoreDeletes && request.method == "DELETE") {
    if (!lost_answer) answer(MemberResponse{200, Value::object({{"status", "Success"}})});
    return;
  }
  const auto send = [world = &world_, who = who_, cluster, request = std::move(request), answer, lost_answer] {
    std::string line;
    if (request.method != "GET") line = cluster + " " + request.method + " " + request.path;
    if (request.method == "POST") line += "/" + request.body["metadata"]["name"].str();
    world->members.request(cluster, request, [=](Result<MemberResponse> response) {
      if (!line.empty()) {
        world->trace.line(who, line + (response ? " -> " + std::to_string(response.value().status)
                                                : ": " + response.error().message));
      }
      if (response && response.value().status == 201) world->note_created(cluster, response.value().body);
      if (!lost_answer) answer(std::move(response));
    });
  };
  if (held_up.value == 0) return send();
  world_.timeline.after(held_up, send);
}

std::unique_ptr<MemberWatch> SimMembers::watch(const std::string& cluster, std::string path,
                                               std::function<void(const Value&)> on_event,
                                               std::function<void(Result<void>)> on_end) {
  struct Handle final : MemberWatch {
    std::shared_ptr<bool> open = std::make_shared<bool>(true);
    std::unique_ptr<MemberWatch> inner;
    ~Handle() override { *open = false; }
  };
  auto handle = std::make_unique<Handle>();
  const auto post = [alive = alive_, open = handle->open, executor = &executor_](std::function<void()> run) {
    if (!*alive || !*open) return;
    executor->post([alive, open, run = std::move(run)] {
      if (*alive && *open) run();
    });
  };
  if (apart_from(cluster)) {
    world_.timeline.after(Millis{chance_.between(1, 1000)}, [post, cluster, on_end = std::move(on_end)] {
      post([cluster, on_end] { on_end(Error{ErrorCode::kUnavailable, "cluster " + cluster + ": no route to host"}); });
    });
    return handle;
  }
  world_.trace.line(who_, cluster + " WATCH " + path.substr(0, path.find('?')));
  handle->inner = world_.members.watch(
      cluster, std::move(path),
      [post, on_event = std::move(on_event)](const Value& event) { post([on_event, event] { on_event(event); }); },
      [post, on_end = std::move(on_end), world = &world_, who = who_, cluster](const Result<void>& end) {
        world->trace.line(who, "a watch on " + cluster + " ends");
        post([on_end, end] { on_end(end); });
      });
  return handle;
}

}  // namespace shiplog::simulation
