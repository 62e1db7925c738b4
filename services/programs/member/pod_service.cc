#include "services/programs/member/pod_service.h"

#include <string>
#include <utility>
#include <vector>

#include "events/base/json.h"
#include "events/state/object.h"
#include "services/api/pipeline/responses.h"
#include "services/programs/member/kinds.h"
#include "services/programs/member/pod_exec.h"
#include "services/programs/member/pod_forward.h"
#include "services/programs/member/pod_log_stream.h"
#include "services/programs/member/pod_requests.h"
#include "services/programs/member/shell/container_image.h"
#include "services/runtime/thread_loop.h"

namespace shiplog::member {
namespace {

StreamChoice choice_of(const HttpRequest& request) {
  StreamChoice choice{.standard_in = api::flag(request, "stdin"),
                      .standard_out = api::flag(request, "stdout"),
                      .standard_error = api::flag(request, "stderr"),
                      .tty = api::flag(request, "tty")};
  if (choice.tty) choice.standard_error = false;  // a terminal has one output
  return choice;
}

std::vector<std::string> command_of(const HttpRequest& request) {
  std::vector<std::string> words;
  for (const auto& [key, value] : request.query) {
    if (key == "command") words.push_back(value);
  }
  return words;
}

/// What the container of an attach runs: its command if the shell knows it, else a shell.
std::vector<std::string> container_command(const Value& container) {
  std::vector<std::string> words;
  for (const char* list : {"command", "args"}) {
    for (const Value& word : container[list].items()) words.push_back(word.str());
  }
  if (words.empty() || !Shell::knows(words.front())) return {"sh"};
  return words;
}

FindObject finder(const api::StoredObjects& objects, const std::string& ns) {
  return [&objects, ns](const char* type, const std::string& name) {
    auto found = objects.find({type, ns, name});
    return found ? std::move(found).value() : Value{};
  };
}

}  // namespace

struct PodService::Impl {
  ThreadLoop loop;
  PodSessions sessions{loop};

  void log(const api::RequestContext& context, const Value& pod);
  void exec(const api::RequestContext& context, const Value& pod, const api::StoredObjects& objects, bool attach);
  void forward(const api::RequestContext& context, const Value& pod);
};

PodService::PodService() : impl_{std::make_unique<Impl>()} {}

PodService::~PodService() { stop(); }

void PodService::stop() {
  impl_->loop.call([this] { impl_->sessions.end_all(); });
}

void PodService::on_folded(const State&, const DecodedRecord&, const Folded& folded) {
  for (const Change& change : folded.changes) {
    if (change.object.type != kPods || !change.removed()) continue;
    impl_->loop.post([this, uid = std::string{uid_of(change.before)}] { impl_->sessions.pod_gone(uid); });
  }
}

void PodService::serve(const api::RequestContextPtr& context, const Value& pod, const api::StoredObjects& objects) {
  const std::string& action = context->path.subresource;
  if (action == "log") return impl_->log(*context, pod);
  if (action == "portforward") return impl_->forward(*context, pod);
  impl_->exec(*context, pod, objects, action == "attach");
}

void PodService::Impl::log(const api::RequestContext& context, const Value& pod) {
  auto options = log_options(context.request);
  if (!options) return fail(context, options.error());
  auto container = container_meant(pod, options.value().container);
  if (!container) return fail(context, container.error());
  if (pod["spec"]["nodeName"].is_empty()) return send(context, 200, "text/plain", "");
  const auto life = container_life(pod, container.value(), options.value().previous);
  if (!life) return fail(context, life.error());
  LogLines lines{pod, container_of(pod, container.value()), life.value().started, life.value().finished};
  loop.post([this, writer = context.writer, uid = std::string{uid_of(pod)}, lines = std::move(lines),
             chosen = std::move(options).value()] { stream_log(sessions, writer, uid, lines, chosen); });
}

void PodService::Impl::exec(const api::RequestContext& context, const Value& pod, const api::StoredObjects& objects,
                            bool attach) {
  const StreamChoice choice = choice_of(context.request);
  PodCommand command;
  command.words = command_of(context.request);
  if (!attach && command.words.empty()) {
    return fail(context, Error{ErrorCode::kBadRequest, "you must specify at least 1 command for the container"});
  }
  if (!choice.standard_in && !choice.standard_out && !choice.standard_error) {
    return fail(context, Error{ErrorCode::kBadRequest, "you must specify at least one of stdin, stdout, stderr"});
  }
  auto container = container_meant(pod, api::text(context.request, "container"));
  if (!container) return fail(context, container.error());
  if (auto running = check_running(pod, container.value()); !running) return fail(context, running.error());
  const Value& spec = container_of(pod, container.value());
  command.pod_uid = uid_of(pod);
  command.container = std::move(container).value();
  if (attach && !spec["stdin"].as_bool()) {
    const auto life = container_life(pod, command.container, false);
    if (life) command.log.emplace(pod, spec, life.value().started, life.value().finished);
  }
  if (attach) command.words = container_command(spec);
  const FindObject find = finder(objects, context.path.ns);
  command.shell = shell_container(pod, spec, find);
  if (choice.tty) command.shell.environment.emplace("TERM", "xterm");
  command.image = image_of(pod, spec, find);
  open_command_streams(context.request, context.writer, choice, loop,
                       [this, choice, held = std::make_shared<PodCommand>(std::move(command))](
                           Result<std::shared_ptr<CommandStreams>> streams) {
                         if (streams) run_command(sessions, std::move(streams).value(), choice, std::move(*held));
                       });
}

void PodService::Impl::forward(const api::RequestContext& context, const Value& pod) {
  if (pod["spec"]["nodeName"].is_empty()) {
    return fail(context, Error{ErrorCode::kBadRequest,
                               "pod " + pod["metadata"]["name"].str() + " does not have a host assigned"});
  }
  if (pod["status"]["phase"].as_string() != "Running") {
    return fail(context, Error{ErrorCode::kBadRequest,
                               "unable to forward port because pod is not running. Current status=" +
                                   pod["status"]["phase"].str()});
  }
  open_port_forward(context.request, context.writer, forwarded_pod(pod), sessions);
}

}  // namespace shiplog::member
