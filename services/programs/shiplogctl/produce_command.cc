#include <CLI/CLI.hpp>

#include "services/programs/shiplogctl/program.h"

namespace shiplog::ctl {

void Program::add_produce() {
  auto* sub = add(*app_, "produce", "Send objects as requests, to be carried out once each", [this]() -> Result<int> {
    usage_ = true;
    SHIPLOG_TRY(produce_.timeout, parse_duration(timeout_));
    usage_ = false;
    produce_.ns = access_.ns;
    SHIPLOG_TRY(const bool done, produce(access_, produce_, to_));
    return done ? 0 : 1;
  });
  sub->add_option("-f,--filename", produce_.files, "Files of YAML or JSON, folders of them, or - for standard input")
      ->required()
      ->type_name("FILE|DIR|-");
  values_[sub->add_option("--verb", produce_.verb, "apply or create")
              ->check(CLI::IsMember({"apply", "create"}))
              ->capture_default_str()] = {"apply", "create"};
  sub->add_option("--field-manager", produce_.field_manager, "Owner of the fields that are written")->type_name("NAME");
  sub->add_flag("--force", produce_.force, "Take over fields of other managers");
  sub->add_option("--id", produce_.id,
                  "Idempotency ids are this, a dash and a number: sent again with the same, a request is carried out "
                  "once [random]")
      ->type_name("ID");
  sub->add_flag("--wait", produce_.wait, "Wait for the results and print them; fail if one is no success");
  sub->add_option("--timeout", timeout_, "How long to wait")->type_name("DURATION")->capture_default_str();
  sub->add_option("--journal", produce_.journal, "Send into the topic of this fleet, instead of to the API server")
      ->type_name("kafka:BROKER,.../FLEET");
  sub->add_option("--requests-topic", produce_.requests_topic, "The topic, with --journal [FLEET.requests]")
      ->type_name("TOPIC");
  sub->add_option("--kafka-option", produce_.kafka, "A setting of librdkafka; can be repeated")->type_name("KEY=VALUE");
  sub->add_option("--token-file", produce_.token_file, "With --journal: the bearer token of the requests")
      ->type_name("FILE");
  add_output(*sub, produce_.output, {"json"});
}

}  // namespace shiplog::ctl
