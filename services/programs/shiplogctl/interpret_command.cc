#include <memory>

#include <CLI/CLI.hpp>

#include "services/http/http.h"
#include "services/interpreter/customizations.h"
#include "services/programs/shiplogctl/interpret.h"
#include "services/programs/shiplogctl/program.h"

namespace shiplog::ctl {
namespace {

constexpr const char* kCustomizations = "/apis/config.karmada.io/v1alpha1/resourceinterpretercustomizations/";

Result<std::vector<Value>> stored_customizations(ServerConnection& plane, const std::vector<std::string>& names) {
  std::vector<Value> customizations;
  for (const std::string& name : names) {
    SHIPLOG_TRY(auto customization, plane.get(kCustomizations + percent_encode(name)));
    customizations.push_back(std::move(customization));
  }
  return customizations;
}

}  // namespace

void Program::add_interpret() {
  const auto options = std::make_shared<InterpretOptions>();
  auto* sub =
      add(*app_, "interpret", "Check, run and edit the scripts of resource interpreter customizations",
          [this, options]() -> Result<int> {
            usage_ = true;
            if (options->names.empty() == options->files.empty()) {
              return Error{ErrorCode::kBadRequest, "name customizations of the control plane, or files with -f FILE"};
            }
            if (options->edit && options->names.size() != 1) {
              return Error{ErrorCode::kBadRequest, "--edit is for one customization of the control plane"};
            }
            usage_ = false;
            std::vector<Value> customizations;
            if (options->names.empty()) {
              SHIPLOG_TRY(customizations, read_customizations(options->files, options->recursive));
            } else {
              SHIPLOG_TRY(auto plane, access_.connect());
              SHIPLOG_TRY(customizations, stored_customizations(plane, options->names));
              if (options->edit) {
                const auto send = [&](const Value& patch) -> Result<void> {
                  SHIPLOG_TRY(plane.merge_patch(kCustomizations + percent_encode(options->names.front()), patch));
                  return ok();
                };
                SHIPLOG_TRY(edit_customization(customizations.front(), options->show_doc, send, to_));
                return 0;
              }
            }
            if (options->check) return check_customizations(customizations, to_) ? 0 : 1;
            SHIPLOG_TRY(const bool done, run_operation(customizations, *options, to_));
            return done ? 0 : 1;
          });
  sub->add_option("NAME", options->names, "Customizations of the control plane");
  sub->add_option("-f,--filename", options->files, "Files or folders with customizations; - is standard input")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("FILE");
  sub->add_flag("-R,--recursive", options->recursive, "Also the folders in a folder");
  sub->add_flag("--check", options->check, "Check that each script can be read");
  sub->add_flag("--edit", options->edit, "Edit the scripts in $KUBE_EDITOR or $EDITOR");
  sub->add_flag("--show-doc", options->show_doc, "With --edit: explain each rule");
  auto* operation =
      sub->add_option("--operation", options->operation, "Run the script of this operation")->type_name("OPERATION");
  for (const auto& names : interpreter::kOperations) values_[operation].emplace_back(names.name);
  sub->add_option("--desired-file", options->desired_file, "The template")->type_name("FILE");
  sub->add_option("--observed-file", options->observed_file, "The object as the member has it")->type_name("FILE");
  sub->add_option("--status-file", options->status_file, "What members report, a document each")->type_name("FILE");
  sub->add_option("--desired-replica", options->desired_replica, "With ReviseReplica")->type_name("N");
}

}  // namespace shiplog::ctl
