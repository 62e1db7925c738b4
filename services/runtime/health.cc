#include "services/runtime/health.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <utility>

#include "services/runtime/metrics.h"

namespace shiplog {
namespace {

HttpResponse plain(int status, std::string body) {
  return {
      status, {{"Content-Type", "text/plain; charset=utf-8"}, {"Cache-Control", "no-cache, private"}}, std::move(body)};
}

constexpr std::array<std::string_view, 3> kRoots = {"/healthz", "/livez", "/readyz"};

/// "/readyz" of "/readyz" and of "/readyz/leaders"; "" of what is no path of health.
std::string_view root_of(std::string_view path) {
  for (const std::string_view root : kRoots) {
    if (path == root || (path.starts_with(root) && path[root.size()] == '/')) return root;
  }
  return "";
}

std::vector<HealthCheck> all_checks(std::string_view root, const HealthChecks& checks) {
  std::vector<HealthCheck> all = {{"ping"}};
  if (checks) std::ranges::move(checks(root), std::back_inserter(all));
  return all;
}

HttpResponse response_of_one(std::string_view name, const std::vector<HealthCheck>& all) {
  const auto check = std::ranges::find(all, name, &HealthCheck::name);
  if (check == all.end()) return plain(404, "404 page not found\n");
  if (check->failure.empty()) return plain(200, "ok");
  return plain(500, "internal server error: " + check->failure + "\n");
}

std::set<std::string> excluded_by(const HttpRequest& request) {
  std::set<std::string> names;
  for (const auto& [key, value] : request.query) {
    if (key == "exclude") names.insert(value);
  }
  return names;
}

/// The warning that kube-apiserver prints for excluded names that no check has.
std::string warning_of(const std::set<std::string>& unmatched) {
  std::string names;
  for (const std::string& name : unmatched) names += (names.empty() ? "\"" : ",\"") + name + "\"";
  if (names.empty()) return "";
  return "warn: some health checks cannot be excluded: no matches for " + names + "\n";
}

}  // namespace

bool is_health_path(std::string_view path) { return !root_of(path).empty(); }

HttpResponse health_response(const HttpRequest& request, const HealthChecks& checks) {
  const std::string_view root = root_of(request.path);
  const std::vector<HealthCheck> all = all_checks(root, checks);
  if (request.path != root) return response_of_one(std::string_view{request.path}.substr(root.size() + 1), all);
  std::set<std::string> excluded = excluded_by(request);
  bool failed = false;
  std::string text;
  for (const HealthCheck& check : all) {
    if (excluded.erase(check.name) > 0) {
      text += "[+]" + check.name + " excluded: ok\n";
    } else if (check.failure.empty()) {
      text += "[+]" + check.name + " ok\n";
    } else {
      failed = true;
      text += "[-]" + check.name + " failed: " + check.failure + "\n";
    }
  }
  if (!failed && request.query_value("verbose") == nullptr) return plain(200, "ok");
  text += warning_of(excluded);
  text += request.path.substr(1) + (failed ? " check failed\n" : " check passed\n");
  return plain(failed ? 500 : 200, std::move(text));
}

HttpResponse metrics_response() {
  return {200, {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}}, metrics::text()};
}

}  // namespace shiplog
