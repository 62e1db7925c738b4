#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "events/base/result.h"
#include "events/base/value.h"
#include "services/programs/shiplogctl/terminal.h"

namespace shiplog::ctl {

struct InterpretOptions {
  std::vector<std::string> names;  ///< of customizations in the control plane
  std::vector<std::string> files;  ///< or files, folders and "-"
  bool recursive = false;
  bool check = false, edit = false, show_doc = false;
  std::string operation, desired_file, observed_file, status_file;
  int64_t desired_replica = 0;
};

/// The ResourceInterpreterCustomizations of files. Errors: kIo; kBadRequest, another kind.
Result<std::vector<Value>> read_customizations(const std::vector<std::string>& files, bool recursive);

/// --check: prints the state of each script. False: a script does not parse.
bool check_customizations(const std::vector<Value>& customizations, const Output& to);

/// --operation: runs the customizations' script on the objects of the files, in this process, under the limits of the
/// control plane. Errors: kBadRequest. A script that fails is reported.
Result<bool> run_operation(const std::vector<Value>& customizations, const InterpretOptions& options, const Output& to);

/// Sends a merge patch of the edited customization.
using PatchSender = std::function<Result<void>(const Value& patch)>;
/// --edit: opens the scripts as Lua in $KUBE_EDITOR or $EDITOR, and sends what has changed. An edit that is not stored
/// is kept in a file, which is named on `to.err`. Errors: kConflict, somebody else has changed it; kInvalid, the edit
/// was given up; kIo, the editor failed.
Result<void> edit_customization(const Value& customization, bool show_doc, const PatchSender& send, const Output& to);

// --- pure parts

/// The scripts as one Lua text in which each follows a line "---@rule: NAME".
std::string editable_scripts(const Value& customization, bool show_doc);
/// spec.customizations of an edited text. Errors: kInvalid: a rule is unknown, or its script does not parse.
Result<Value> edited_scripts(const std::string& text, const Value& before);

}  // namespace shiplog::ctl
