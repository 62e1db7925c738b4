#include "services/api/denials/denial_tally.h"

#include <algorithm>
#include <array>

#include <arpa/inet.h>

namespace shiplog::api {
namespace {

constexpr size_t kLongestUser = 256;
constexpr size_t kLongestGroup = 128;
constexpr size_t kMostGroups = 8;
constexpr size_t kLongestAgent = 128;
constexpr size_t kLongestPath = 512;
constexpr size_t kLongestMessage = 1024;
constexpr size_t kLongestCountedMessage = 256;
constexpr size_t kLongestType = 320;  // a resource (63), a dot, a group (253)
constexpr size_t kLongestName = 253;

/// One owner of IPv6 addresses has at least a /64 of them.
std::string network_of(const std::string& address) {
  std::array<unsigned char, 16> bytes{};
  if (::inet_pton(AF_INET6, address.c_str(), bytes.data()) != 1) return clipped(address, 64);
  static constexpr std::array<unsigned char, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (std::equal(kMapped.begin(), kMapped.end(), bytes.begin())) return address;  // an IPv4 address
  std::fill(bytes.begin() + 8, bytes.end(), static_cast<unsigned char>(0));
  char text[INET6_ADDRSTRLEN] = {};
  ::inet_ntop(AF_INET6, bytes.data(), text, sizeof text);
  return std::string{text} + "/64";
}

std::string key_of(const Actor& actor) { return actor.user + '\n' + network_of(actor.source_ip); }

Actor bounded(const Actor& actor) {
  Actor out = actor;
  out.user = clipped(actor.user, kLongestUser);
  out.source_ip = clipped(actor.source_ip, 64);
  out.user_agent = clipped(actor.user_agent, kLongestAgent);
  if (out.groups.size() > kMostGroups) {
    const size_t cut = out.groups.size() - kMostGroups;
    out.groups.resize(kMostGroups);
    out.groups.push_back("[" + std::to_string(cut) + " more groups]");
  }
  for (std::string& group : out.groups) group = clipped(group, kLongestGroup);
  return out;
}

ObjectKey bounded(const ObjectKey& key) {
  return {clipped(key.type, kLongestType), clipped(key.ns, kLongestName), clipped(key.name, kLongestName)};
}

}  // namespace

std::string clipped(std::string_view text, size_t longest) {
  if (text.size() <= longest) return std::string{text};
  size_t end = longest;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return std::string{text.substr(0, end)} + "[" + std::to_string(text.size() - end) + " more bytes]";
}

Entry denial_entry(const RefusedRequest& request, UtcMillis now) {
  Entry entry;
  entry.time = now;
  entry.actor = bounded(request.actor);
  entry.request = {request.verb, clipped(request.path, kLongestPath)};
  entry.cause = request.cause;
  RequestDenied denial = request.denial;
  denial.object = bounded(denial.object);
  denial.message = clipped(denial.message, kLongestMessage);
  entry.events = {std::move(denial)};
  return entry;
}

void DenialTally::Tokens::refill(int64_t most, Millis every, UtcMillis now) {
  if (since == UtcMillis{} || now < since) since = now;
  const int64_t more = (now - since).value / every.value;
  left = std::min(most, left + more);
  since = left == most ? now : since + Millis{more * every.value};
}

DenialTally::Client& DenialTally::client(const Actor& actor, UtcMillis now) {
  std::string key = key_of(actor);
  if (const auto found = by_key_.find(key); found != by_key_.end()) {
    clients_.splice(clients_.end(), clients_, found->second);
    return *found->second;
  }
  if (clients_.size() >= limits_.clients) {
    // The least recent one is removed once it has nothing counted and would have its tokens back anyway.
    Client& oldest = clients_.front();
    oldest.tokens.refill(limits_.burst, limits_.refill, now);
    if (oldest.count > 0 || oldest.tokens.left < limits_.burst) {
      ++overflow_.others;
      return overflow_;
    }
    by_key_.erase(oldest.key);
    clients_.pop_front();
  }
  clients_.push_back({key, bounded(actor), {limits_.burst, now}, {}, 0, 0});
  by_key_.emplace(std::move(key), std::prev(clients_.end()));
  return clients_.back();
}

bool DenialTally::suspicious(const Actor& actor, UtcMillis now) const {
  if (clients_.empty()) return false;
  const auto found = by_key_.find(key_of(actor));
  if (found == by_key_.end()) return clients_.size() >= limits_.clients;
  Tokens own = found->second->tokens;
  own.refill(limits_.burst, limits_.refill, now);
  return own.left < limits_.burst;
}

bool DenialTally::spend(Client& client, UtcMillis now) {
  total_.refill(limits_.total_burst, limits_.total_refill, now);
  if (&client != &overflow_) client.tokens.refill(limits_.burst, limits_.refill, now);
  if (client.tokens.left == 0 || total_.left == 0) return false;
  --client.tokens.left;
  --total_.left;
  return true;
}

void DenialTally::recorded(const Actor& actor, UtcMillis now) { spend(client(actor, now), now); }

bool DenialTally::record(const RefusedRequest& request, UtcMillis now) {
  Client& requester = client(request.actor, now);
  if (spend(requester, now)) return true;
  count(requester, request, now);
  return false;
}

void DenialTally::count(Client& client, const RefusedRequest& request, UtcMillis now) {
  if (client.count++ == 0) ++counting_;
  const ObjectKey object = bounded(ObjectKey{request.denial.object.type, request.denial.object.ns, ""});
  const auto same = [&](const RequestsDenied& denied) {
    return denied.object == object && denied.verb == request.verb && denied.status == request.denial.status &&
           denied.reason == request.denial.reason;
  };
  auto found = std::ranges::find_if(client.counted, same);
  if (found == client.counted.end() && client.counted.size() >= limits_.subjects_per_client) {
    found = std::prev(client.counted.end());  // the last one sums up all others
    if (found->object != ObjectKey{} || !found->verb.empty())
      *found = {{}, "", 0, "", "", found->count, found->first, found->last};
  }
  if (found == client.counted.end()) {
    client.counted.push_back({object, request.verb, 0, request.denial.reason, "", 0, now, now});
    found = std::prev(client.counted.end());
  }
  ++found->count;
  found->last = now;
  found->status = request.denial.status;
  found->message = clipped(request.denial.message, kLongestCountedMessage);
}

std::vector<Entry> DenialTally::take(UtcMillis now) {
  std::vector<Client*> counted;
  for (Client& candidate : clients_) {
    if (candidate.count > 0) counted.push_back(&candidate);
  }
  std::ranges::stable_sort(counted, [](const Client* a, const Client* b) { return a->count > b->count; });
  std::vector<Entry> entries;
  const auto add = [&](Actor actor, std::vector<RequestsDenied> events) {
    Entry entry;
    entry.time = now;
    entry.actor = std::move(actor);
    const auto same_verb = [&](const RequestsDenied& denied) { return denied.verb == events.front().verb; };
    entry.request = {std::ranges::all_of(events, same_verb) ? events.front().verb : "", ""};
    for (RequestsDenied& event : events) entry.events.emplace_back(std::move(event));
    entries.push_back(std::move(entry));
  };
  // The clients with the most; one entry is for all others.
  RequestsDenied rest{{}, "", 403, "", "", overflow_.count, now, now};
  for (const RequestsDenied& denied : overflow_.counted) rest.first = std::min(rest.first, denied.first);
  int64_t others = overflow_.others;
  for (Client* counted_client : counted) {
    if (entries.size() + 1 < limits_.entries_per_window) {
      add(counted_client->actor, std::move(counted_client->counted));
    } else {
      ++others;
      rest.count += counted_client->count;
      for (const RequestsDenied& each : counted_client->counted) rest.first = std::min(rest.first, each.first);
    }
    counted_client->counted.clear();
    counted_client->count = 0;
  }
  if (rest.count > 0) {
    rest.message = "of up to " + std::to_string(others) + " more clients";
    add({.user = "", .groups = {}, .service = "api", .source_ip = "", .user_agent = ""}, {rest});
  }
  overflow_.counted.clear();
  overflow_.count = 0;
  overflow_.others = 0;
  counting_ = 0;
  return entries;
}

}  // namespace shiplog::api
