#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <ostream>
#include <sstream>

#include <unistd.h>

#include "services/interpreter/customizations.h"
#include "services/interpreter/lua/vm.h"
#include "services/programs/shiplogctl/child_process.h"
#include "services/programs/shiplogctl/interpret.h"

namespace shiplog::ctl {
namespace {

constexpr std::string_view kRuleLine = "---@rule:";

/// What --show-doc prints below a rule's line: the function's form.
const std::map<std::string_view, std::string_view>& forms() {
  static const std::map<std::string_view, std::string_view> all = {
      {"InterpretReplica", "function GetReplicas(desiredObj): the number of replicas, and what each requires"},
      {"InterpretComponent", "function GetComponents(desiredObj): a list of {name, replicas, replicaRequirements}"},
      {"ReviseReplica", "function ReviseReplica(desiredObj, desiredReplica): the object with so many replicas"},
      {"Retain", "function Retain(desiredObj, observedObj): the desired object with what the member keeps"},
      {"AggregateStatus", "function AggregateStatus(desiredObj, statusItems): the object with its status"},
      {"InterpretStatus", "function ReflectStatus(observedObj): the part of the status that is collected"},
      {"InterpretHealth", "function InterpretHealth(observedObj): true if the object is healthy"},
      {"InterpretDependency",
       "function GetDependencies(desiredObj): a list of {apiVersion, kind, namespace, name or labelSelector}"},
  };
  return all;
}

std::string trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return "";
  return std::string{text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1)};
}

std::string editor() {
  for (const char* name : {"KUBE_EDITOR", "EDITOR"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') return value;
  }
  return "vi";
}

/// A file in the folder for temporary files, which is removed unless it is kept.
class EditedFile {
 public:
  static Result<std::unique_ptr<EditedFile>> make() {
    std::error_code error;
    std::string name = (std::filesystem::temp_directory_path(error) / "shiplogctl-interpret-XXXXXX.lua").string();
    const int fd = ::mkstemps(name.data(), 4);
    if (fd < 0) return Error{ErrorCode::kIo, "cannot create a temporary file like " + name};
    ::close(fd);
    return std::make_unique<EditedFile>(name);
  }
  explicit EditedFile(std::string name) : name_{std::move(name)} {}
  ~EditedFile() {
    if (!kept_) ::unlink(name_.c_str());
  }
  EditedFile(const EditedFile&) = delete;
  EditedFile& operator=(const EditedFile&) = delete;

  /// Opens the text in the editor. Error: kIo, or the editor failed.
  Result<std::string> edit(const std::string& text) const {
    {
      std::ofstream file{name_, std::ios::trunc};
      file << text;
      if (!file.flush()) return Error{ErrorCode::kIo, "cannot write " + name_};
    }
    // As kubectl: $EDITOR may have options.
    SHIPLOG_TRY(const auto ran, run_child({"sh", "-c", editor() + " \"$1\"", "sh", name_}, {}));
    if (ran.code != 0) {
      return Error{ErrorCode::kIo, "the editor (" + editor() + ") ended with code " + std::to_string(ran.code)};
    }
    return content();
  }

  /// Leaves the file for the user, and says where, if it has an edit of `original`. Returns the error that ends the
  /// edit.
  Error keep(Error error, const std::string& original, std::ostream& err) {
    const std::string edited = content();
    kept_ = edited != original && !trimmed(edited).empty();
    if (kept_) err << "A copy of your changes has been stored to \"" << name_ << "\"" << std::endl;
    return error;
  }

 private:
  std::string content() const {
    std::stringstream read;
    read << std::ifstream{name_}.rdbuf();
    return read.str();
  }

  std::string name_;
  bool kept_ = false;
};

/// A text without a customization: what an editor is opened with again, under the error.
std::string with_error(const std::string& text, const std::string& why) {
  std::string lines = "-- The last edit is not valid: ";
  for (const char c : why) lines += c == '\n' ? std::string{"\n-- "} : std::string{c};
  return lines + "\n" + text;
}

}  // namespace

std::string editable_scripts(const Value& customization, bool show_doc) {
  const Value& spec = customization["spec"];
  std::string text =
      "-- Edit the scripts below. Lines that begin with \"---@\" delimit them; an empty file cancels the edit.\n"
      "---@name: " +
      customization["metadata"]["name"].str() + "\n---@apiVersion: " + spec["target"]["apiVersion"].str() +
      "\n---@kind: " + spec["target"]["kind"].str() + "\n";
  for (const auto& names : interpreter::kOperations) {
    text += std::string{kRuleLine} + " " + names.name + "\n";
    if (show_doc) text += "---@doc " + std::string{forms().at(names.name)} + "\n";
    const std::string script = trimmed(spec["customizations"][names.field]["luaScript"].as_string());
    if (!script.empty()) text += script + "\n";
  }
  return text;
}

Result<Value> edited_scripts(const std::string& text, const Value& before) {
  Value rules = before.is_object() ? before : Value::object();
  std::map<std::string, std::string> scripts;
  std::string rule;
  std::stringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(kRuleLine)) {
      rule = trimmed(std::string_view{line}.substr(kRuleLine.size()));
      const bool known =
          std::ranges::any_of(interpreter::kOperations, [&](const auto& names) { return rule == names.name; });
      if (!known) return Error{ErrorCode::kInvalid, "there is no rule \"" + rule + "\""};
      scripts[rule];
    } else if (!rule.empty() && !line.starts_with("---@")) {
      scripts[rule] += line + "\n";
    }
  }
  for (const auto& names : interpreter::kOperations) {
    const auto found = scripts.find(names.name);
    const std::string script = found == scripts.end() ? "" : trimmed(found->second);
    if (script == trimmed(rules[names.field]["luaScript"].as_string())) continue;
    if (script.empty()) {
      rules.erase(names.field);
      continue;
    }
    if (const auto parsed = interpreter::lua::check(script); !parsed) {
      return Error{ErrorCode::kInvalid, std::string{names.name} + ": " + parsed.error().message};
    }
    rules.edit(names.field).set("luaScript", script + "\n");
  }
  return rules;
}

Result<void> edit_customization(const Value& customization, bool show_doc, const PatchSender& send, const Output& to) {
  const std::string name = customization["metadata"]["name"].str();
  const Value& before = customization["spec"]["customizations"];
  SHIPLOG_TRY(const auto file, EditedFile::make());
  const std::string original = editable_scripts(customization, show_doc);
  std::string shown = original;
  std::string refused;  // why the last edit was
  const auto refuse = [&](const std::string& text, const Error& why) {
    shown = with_error(text, why.message);
    refused = why.message;
  };
  while (true) {
    const auto read = file->edit(shown);
    if (!read) return file->keep(read.error(), original, to.err);
    const std::string& edited = read.value();
    if (edited == shown || trimmed(edited).empty()) {
      // An edit that was refused and is left as it is was given up.
      if (shown != original) {
        return file->keep({ErrorCode::kInvalid, "the edit is not valid, and was cancelled: " + refused}, original,
                          to.err);
      }
      to.out << "Edit cancelled, no changes made." << std::endl;
      return ok();
    }
    const auto scripts = edited_scripts(edited, before);
    if (!scripts) {
      refuse(edited, scripts.error());
      continue;
    }
    if (scripts.value() == before) {
      to.out << "Edit cancelled, no changes made." << std::endl;
      return ok();
    }
    // A rule that is gone is removed by null.
    Value changed = scripts.value();
    for (const Value::Member& rule : before.members()) {
      if (!changed.contains(rule.key())) changed.set(rule.key(), nullptr);
    }
    const Value patch =
        Value::object({{"metadata", Value::object({{"resourceVersion", customization["metadata"]["resourceVersion"]}})},
                       {"spec", Value::object({{"customizations", std::move(changed)}})}});
    const auto patched = send(patch);
    if (!patched && patched.error().code != ErrorCode::kConflict) {
      refuse(edited, patched.error());
      continue;
    }
    if (!patched) return file->keep(patched.error(), original, to.err);
    to.out << "resourceinterpretercustomization.config.karmada.io/" << name << " edited" << std::endl;
    return ok();
  }
}

}  // namespace shiplog::ctl
