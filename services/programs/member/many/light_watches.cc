// Watches of a simulated member.
#include <algorithm>

#include "services/programs/member/many/light_requests.h"

namespace shiplog::member {
namespace {

/// A watch may begin at versions that are that many changes behind at most.
constexpr size_t kMostHistory = 4'096;
/// What a client that reads too slowly may have waiting.
constexpr size_t kMostWaiting = size_t{16} << 20U;

std::string event_line(const char* type, const std::string& object) {
  return std::string{R"({"type":")"} + type + R"(","object":)" + object + "}\n";
}

}  // namespace

void LightMember::happened(Past past) {
  for (const auto& watcher : watchers_) {
    if (auto line = line_of(past, *watcher)) send(watcher, *std::move(line));
  }
  history_.push_back(std::move(past));
  if (history_.size() <= kMostHistory) return;
  oldest_ = history_.front().version;
  history_.pop_front();
}

/// As a server does: an object that begins or ceases to match appears or disappears. nullopt: it does not concern it.
std::optional<std::string> LightMember::line_of(const Past& past, const Watcher& watcher) const {
  if (past.type != watcher.type) return std::nullopt;
  if (past.type == kPodType) {
    if (!watcher.selector.empty() || (!watcher.ns.empty() && watcher.ns != kGeneratedNamespace)) return std::nullopt;
    return event_line(past.event, generated_pod(options_.name, options_.nodes, past.pod));
  }
  const Value& object = *past.object;
  if (!watcher.ns.empty() && object["metadata"]["namespace"].as_string() != watcher.ns) return std::nullopt;
  const bool gone = std::string_view{past.event} == "DELETED";
  const bool is = !gone && watcher.selector.matches(object["metadata"]["labels"]);
  const bool was = past.before != nullptr && watcher.selector.matches((*past.before)["metadata"]["labels"]);
  if (!is && !was) return std::nullopt;
  return event_line(!is ? "DELETED" : was ? "MODIFIED" : "ADDED", to_json(object));
}

void LightMember::watch(const HttpRequest& request, const Target& target, std::shared_ptr<ResponseWriter> writer) {
  auto selector = api::parse_label_selector(query_of(request, "labelSelector"));
  if (!selector) return reply(writer, failure(400, "BadRequest", selector.error().message));
  const std::string since_text = query_of(request, "resourceVersion");
  const bool begins_with_state = since_text.empty() || since_text == "0";
  if (begins_with_state && target.generated()) {
    return reply(writer,
                 failure(400, "BadRequest", "a watch of generated objects needs the resourceVersion of a list"));
  }
  ++requests_;
  writer->start(200, {{"Content-Type", "application/json"}});
  const auto watcher = std::make_shared<Watcher>();
  watcher->type = target.type();
  watcher->ns = target.ns;
  watcher->selector = std::move(selector).value();
  watcher->writer = std::move(writer);
  const std::lock_guard lock{mutex_};
  const int64_t since = begins_with_state ? version_ : number_in(since_text);
  std::erase_if(watchers_, [](const auto& each) { return each->writer->closed(); });
  if (since < oldest_) {
    return send(watcher, event_line("ERROR", R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":)"
                                             R"("Expired","message":"too old resource version","code":410})"));
  }
  watchers_.push_back(watcher);
  if (const auto of_type = objects_.find(target.type()); begins_with_state && of_type != objects_.end()) {
    for (const auto& [name, object] : of_type->second) {
      if (!target.ns.empty() && name.first != target.ns) continue;
      if (watcher->selector.matches(object["metadata"]["labels"])) send(watcher, event_line("ADDED", to_json(object)));
    }
  }
  for (const Past& past : history_) {
    if (past.version <= since) continue;
    if (auto line = line_of(past, *watcher)) send(watcher, *std::move(line));
  }
}

void LightMember::send(const std::shared_ptr<Watcher>& watcher, std::string line) {
  watcher->bytes += line.size();
  if (watcher->bytes > kMostWaiting) return watcher->writer->end();
  watcher->lines.push_back(std::move(line));
  pump(watcher);
}

/// One write at a time, of all that waits.
void LightMember::pump(const std::shared_ptr<Watcher>& watcher) {
  if (watcher->writing || watcher->lines.empty() || hangs_) return;
  std::string chunk;
  for (const std::string& line : watcher->lines) chunk += line;
  watcher->lines.clear();
  watcher->bytes = 0;
  watcher->writing = true;
  bytes_sent_ += chunk.size();
  watcher->writer->write(std::move(chunk), [weak = weak_from_this(), watcher](const Result<void>& written) {
    const auto self = weak.lock();
    if (self == nullptr || !written) return;
    const std::lock_guard lock{self->mutex_};
    watcher->writing = false;
    self->pump(watcher);
  });
}

void LightMember::hang(bool hangs) {
  const std::lock_guard lock{mutex_};
  hangs_ = hangs;
  for (const auto& watcher : watchers_) pump(watcher);
}

void LightMember::send_bookmarks() {
  const std::lock_guard lock{mutex_};
  std::erase_if(watchers_, [](const auto& each) { return each->writer->closed(); });
  for (const auto& watcher : watchers_) {
    const Kind& kind = *Kinds::compiled().find_type(watcher->type);
    send(watcher,
         event_line("BOOKMARK", R"({"kind":")" + kind.kind + R"(","apiVersion":")" + kind.api_version() +
                                    R"(","metadata":{"resourceVersion":")" + std::to_string(version_) + "\"}}"));
  }
}

}  // namespace shiplog::member
