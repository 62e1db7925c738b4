#include <cstdlib>
#include <string>

#include <CLI/CLI.hpp>

#include "events/base/system.h"
#include "events/base/time.h"
#include "services/http/kubeconfig.h"
#include "services/programs/shiplogctl/credential_plugin.h"
#include "services/programs/shiplogctl/program.h"

namespace shiplog::ctl {
namespace {

UtcMillis now_utc() { return SystemClock{}.now(); }

Result<Millis> duration(const char* option, const std::string& text) {
  auto parsed = parse_duration(text);
  if (!parsed) return parsed.error().context(option);
  return parsed;
}

Result<int64_t> whole_seconds(const char* option, const std::string& text) {
  SHIPLOG_TRY(const Millis parsed, duration(option, text));
  if (parsed.value <= 0) return Error{ErrorCode::kInvalid, std::string{option} + " must be a positive duration"};
  return (parsed.value + 999) / 1000;
}

}  // namespace

void Program::add_token() {
  auto* token = app_->add_subcommand("token", "Bootstrap tokens, with which clusters register (Pull mode)");
  token->require_subcommand(1);
  auto* create = add(*token, "create", "Create a token", [this]() -> Result<int> {
    SHIPLOG_TRY(token_.ttl, parse_token_ttl(token_ttl_));
    SystemRandom random;
    BootstrapToken made = random_token(random);
    if (!token_text_.empty()) {
      SHIPLOG_TRY(made, parse_token(token_text_));
    }
    SHIPLOG_TRY(auto plane, access_.connect());
    SHIPLOG_TRY(token_create(plane, made, token_, now_utc(), out_));
    return 0;
  });
  create->add_option("TOKEN", token_text_, "ID.SECRET, of 6 and 16 lower-case letters and digits (default: random)");
  create->add_option("--ttl", token_ttl_, "How long it is valid; 0: for ever")
      ->capture_default_str()
      ->type_name("DURATION");
  create->add_option("--usages", token_.usages, "What it is for: signing and authentication")
      ->delimiter(',')
      ->capture_default_str()
      ->type_name("USAGE,...");
  create->add_option("--groups", token_.groups, "Groups of who authenticates with it")
      ->delimiter(',')
      ->capture_default_str()
      ->type_name("GROUP,...");
  create->add_option("--description", token_.description, "What it is for, in words")->type_name("TEXT");
  create->add_flag("--print-register-command", token_.print_register_command,
                   "Print the whole command that registers a cluster with it");
  add(*token, "list", "Show the tokens", [this]() -> Result<int> {
    SHIPLOG_TRY(auto plane, access_.connect());
    SHIPLOG_TRY(token_list(plane, now_utc(), out_));
    return 0;
  });
  auto* remove = add(*token, "delete", "Delete tokens", [this]() -> Result<int> {
    SHIPLOG_TRY(auto plane, access_.connect());
    SHIPLOG_TRY(token_delete(plane, token_values_, out_));
    return 0;
  });
  remove->add_option("TOKEN", token_values_, "Their ids, or whole tokens")->required();
}

void Program::add_register() {
  auto* sub =
      add(*app_, "register", "Add a member cluster whose agent connects to the control plane (Pull mode)",
          [this]() -> Result<int> {
            SHIPLOG_TRY(register_.discovery_seconds, whole_seconds("--discovery-timeout", discovery_timeout_));
            SHIPLOG_TRY(const auto member_context, access_.resolve());
            if (!access_.ns.empty()) register_.ns = access_.ns;
            std::erase(register_.zones, "");
            if (register_.name.empty()) {
              SHIPLOG_TRY(const auto config, read_kubeconfig(kubeconfig_paths(
                                                 access_.kubeconfig, std::getenv("KUBECONFIG"), std::getenv("HOME"))));
              register_.name = config.contexts.at(member_context.name).cluster;
            }
            if (register_.image.empty() && register_.kubeconfig_out.empty()) {
              register_.kubeconfig_out = register_.name + ".agent.kubeconfig";
            }
            SHIPLOG_TRY(check_register_options(register_));
            SHIPLOG_TRY(auto member, connect_to("member cluster " + register_.name, member_context));
            SystemRandom random;
            SHIPLOG_TRY(register_cluster_pull(member, access_.kubeconfig, register_, random, out_, err_));
            return 0;
          });
  sub->footer(
      "--kubeconfig and --context are those of the member, -n is the namespace of the agent there (default: "
      "karmada-system).");
  sub->add_option("HOST:PORT", register_.endpoint, "The control plane, as the member reaches it")->required();
  sub->add_option("--token", register_.token, "Bootstrap token, from `token create`")->type_name("ID.SECRET");
  sub->add_option("--discovery-token-ca-cert-hash", register_.ca_pins,
                  "Public key of the control plane's authority, as `token create --print-register-command` prints it")
      ->delimiter(',')
      ->type_name("sha256:HEX");
  sub->add_flag("--discovery-token-unsafe-skip-ca-verification", register_.unsafe_without_pins,
                "Trust any server that knows the token");
  sub->add_option("--discovery-timeout", discovery_timeout_, "How long to look for the control plane")
      ->capture_default_str()
      ->type_name("DURATION");
  sub->add_option("--cluster-name", register_.name,
                  "Name of the cluster in the fleet (default: the cluster of the member's context)")
      ->type_name("NAME");
  sub->add_option("--cluster-namespace", register_.cluster_ns,
                  "Namespace of the cluster's Secrets and Lease in the control plane")
      ->capture_default_str()
      ->type_name("NS");
  sub->add_option("--cluster-provider", register_.provider, "Provider, by which policies can select")
      ->type_name("TEXT");
  sub->add_option("--cluster-region", register_.region, "Region, by which policies can select")->type_name("TEXT");
  sub->add_option("--cluster-zones", register_.zones, "Zones, comma-separated, by which policies can select")
      ->delimiter(',')
      ->type_name("ZONE,...");
  sub->add_option("--proxy-server-address", register_.proxy_address,
                  "Proxy by which the control plane reaches the member")
      ->type_name("URL");
  sub->add_option("--karmada-agent-image", register_.image,
                  "Image of the agent, shiplogd's or karmada-agent's; without it the command that starts the agent is "
                  "printed")
      ->type_name("IMAGE");
  sub->add_option("--karmada-agent-replicas", register_.replicas, "Replicas of its Deployment")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  sub->add_option("--agent-kubeconfig-out", register_.kubeconfig_out,
                  "Write the agent's access to the control plane here (default without an image: "
                  "NAME.agent.kubeconfig)")
      ->type_name("FILE");
  sub->add_flag("--enable-cert-rotation", register_.rotates_certificate, "The agent renews its certificate");
  sub->add_option("--cert-expiration-seconds", register_.certificate_seconds, "How long its certificate is valid")
      ->check(CLI::Range(int64_t{600}, int64_t{INT32_MAX}))
      ->capture_default_str();
  sub->add_flag("--renew", register_.renews,
                "The cluster is registered, and the certificate of its agent has expired: get a new one, which an "
                "administrator of the control plane has to approve");
  sub->add_flag("--dry-run", register_.dry_run, "Check the member, change nothing");
}

void Program::add_unregister() {
  auto* sub = add(*app_, "unregister", "Remove a member cluster of Pull mode", [this]() -> Result<int> {
    if (member_kubeconfig_.empty()) return Error{ErrorCode::kBadRequest, "--cluster-kubeconfig is required"};
    SHIPLOG_TRY(unregister_.wait_seconds, whole_seconds("--wait", unregister_wait_));
    if (!access_.ns.empty()) unregister_.ns = access_.ns;
    SHIPLOG_TRY(auto member, connect_member(unregister_.name));
    const bool own = karmada_config_.empty() && access_.kubeconfig.empty();
    KubeconfigContext context;
    if (own) {
      SHIPLOG_TRY(context.target, agent_access(*member, unregister_));
    } else {
      if (!karmada_config_.empty()) access_.kubeconfig = karmada_config_;
      SHIPLOG_TRY(context, access_.resolve());
    }
    SHIPLOG_TRY(auto plane, connect_to("the control plane", context));
    SHIPLOG_TRY(unregister(plane, *member, !own, unregister_, out_, err_));
    return 0;
  });
  sub->add_option("NAME", unregister_.name, "The member cluster")->required();
  add_member_kubeconfig(*sub);
  sub->get_option("--cluster-kubeconfig")->description("Kubeconfig of the member; required");
  sub->add_option("--karmada-config", karmada_config_,
                  "Kubeconfig of the control plane (default: --kubeconfig; without both the agent's own access, which "
                  "leaves its roles in the control plane)")
      ->type_name("FILE");
  sub->add_option("--agent-name", unregister_.agent, "Deployment of the agent in the member")
      ->capture_default_str()
      ->type_name("NAME");
  sub->add_option("--cluster-namespace", unregister_.cluster_ns, "Namespace of the cluster's Secrets")
      ->capture_default_str()
      ->type_name("NS");
  sub->add_option("--wait", unregister_wait_, "How long to wait for the removal of the Cluster")
      ->capture_default_str()
      ->type_name("DURATION");
  sub->add_flag("--dry-run", unregister_.dry_run, "Check everything, change nothing");
}

}  // namespace shiplog::ctl
