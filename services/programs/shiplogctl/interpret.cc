#include "services/programs/shiplogctl/interpret.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <ostream>
#include <sstream>

#include "events/base/system.h"
#include "events/base/yaml.h"
#include "services/interpreter/customizations.h"
#include "services/interpreter/interpreter.h"
#include "services/interpreter/lua/vm.h"
#include "services/programs/shiplogctl/document.h"
#include "services/programs/shiplogctl/interpreting_state.h"

namespace shiplog::ctl {
namespace {

constexpr const char* kRule = "-----------------------------------";
using interpreter::InterpreterOperation;

Result<std::string> read_text(const std::string& file) {
  std::stringstream text;
  if (file == "-") {
    text << std::cin.rdbuf();
    return text.str();
  }
  if (!std::filesystem::exists(file)) {
    return Error{ErrorCode::kNotFound, "the path \"" + file + "\" does not exist"};
  }
  const std::ifstream stream{file};
  text << stream.rdbuf();
  if (!stream) return Error{ErrorCode::kIo, "cannot read " + file};
  return text.str();
}

Result<std::vector<Value>> read_documents(const std::string& file) {
  SHIPLOG_TRY(const auto text, read_text(file));
  auto documents = parse_yaml_stream(text);
  if (!documents) return documents.error().context(file);
  std::vector<Value> found;
  for (Value& document : documents.value()) {
    if (!document.is_null()) found.push_back(std::move(document));
  }
  return found;
}

/// The object of --desired-file or --observed-file; null without one.
Result<Value> read_object(const std::string& file) {
  if (file.empty()) return Value{};
  SHIPLOG_TRY(const auto documents, read_documents(file));
  if (documents.size() == 1) return documents.front();
  return Error{ErrorCode::kBadRequest, file + " must have one object, and has " + std::to_string(documents.size())};
}

/// A named value that an operation has computed.
using Results = std::vector<std::pair<std::string, Value>>;
template <class T>
using Answer = interpreter::Interpreted<T>;

/// "no rule" of a level that offers nothing, questions of a webhook, or the error.
template <class T>
Result<T> settled(Answer<T> answer) {
  if (answer) return std::move(answer).value();
  if (!answer.error().questions.empty()) {
    return Error{ErrorCode::kUnavailable, "an interpreter webhook has this rule: only the control plane calls it"};
  }
  return answer.error().error();
}
template <class T>
Result<T> offered(Answer<std::optional<T>> answer) {
  SHIPLOG_TRY(auto value, settled(std::move(answer)));
  if (!value) return Error{ErrorCode::kNotFound, "no customization has this rule for the object's kind"};
  return std::move(*value);
}

struct Arguments {
  Value desired, observed, items;
  int64_t replicas = 0;
};

Result<Value> needed(const Value& object, const char* what) {
  if (!object.is_null()) return object;
  return Error{ErrorCode::kBadRequest, std::string{what} + ", " + what + "-file options are not set"};
}
Result<Value> either(const Arguments& with) {
  if (with.desired.is_null() == with.observed.is_null()) {
    return Error{ErrorCode::kBadRequest, with.desired.is_null()
                                             ? "desired-file or observed-file option is not set"
                                             : "you can not specify both desired-file and observed-file options"};
  }
  return with.desired.is_null() ? with.observed : with.desired;
}

Result<Results> replicas_of(const State& state, const Arguments& with, UtcMillis now) {
  SHIPLOG_TRY(const Value object, either(with));
  SHIPLOG_TRY(const auto found, offered(interpreter::replicas(state, object, now)));
  return Results{{"replica", found.count}, {"requires", found.requirements}};
}

Result<Results> components_of(const State& state, const Arguments& with, UtcMillis now) {
  SHIPLOG_TRY(const Value object, either(with));
  SHIPLOG_TRY(const auto found, offered(interpreter::components(state, object, now)));
  Value list = Value::array();
  for (const auto& component : found) {
    Value item = Value::object({{"name", component.name}, {"replicas", component.replicas}});
    if (!component.requirements.is_null()) item.set("replicaRequirements", component.requirements);
    list.push_back(std::move(item));
  }
  return Results{{"components", std::move(list)}};
}

Result<Results> run(InterpreterOperation operation, const State& state, const Arguments& with, UtcMillis now) {
  switch (operation) {
    case InterpreterOperation::kReplicas:
      return replicas_of(state, with, now);
    case InterpreterOperation::kComponents:
      return components_of(state, with, now);
    case InterpreterOperation::kRevise: {
      SHIPLOG_TRY(const Value desired, needed(with.desired, "desired"));
      SHIPLOG_TRY(Value revised, offered(interpreter::revise_replica(state, desired, with.replicas, now)));
      return Results{{"revised", std::move(revised)}};
    }
    case InterpreterOperation::kRetain: {
      SHIPLOG_TRY(const Value desired, needed(with.desired, "desired"));
      SHIPLOG_TRY(const Value observed, needed(with.observed, "observed"));
      SHIPLOG_TRY(Value retained, offered(interpreter::retain(state, desired, observed, now)));
      return Results{{"retained", std::move(retained)}};
    }
    case InterpreterOperation::kAggregate: {
      SHIPLOG_TRY(Value desired, needed(with.desired, "desired"));
      SHIPLOG_TRY(const Value items, needed(with.items, "status"));
      SHIPLOG_TRY(Value status, offered(interpreter::aggregate_status(state, desired, items, now)));
      desired.set("status", std::move(status));
      return Results{{"aggregatedStatus", std::move(desired)}};
    }
    case InterpreterOperation::kStatus: {
      SHIPLOG_TRY(const Value observed, needed(with.observed, "observed"));
      SHIPLOG_TRY(Value status, settled(interpreter::reflect_status(state, observed, now)));
      return Results{{"status", std::move(status)}};
    }
    case InterpreterOperation::kHealth: {
      SHIPLOG_TRY(const Value observed, needed(with.observed, "observed"));
      SHIPLOG_TRY(const bool healthy, offered(interpreter::health(state, observed, now)));
      return Results{{"healthy", healthy}};
    }
    case InterpreterOperation::kDependencies: {
      SHIPLOG_TRY(const Value desired, needed(with.desired, "desired"));
      SHIPLOG_TRY(const auto found, offered(interpreter::dependencies(state, desired, now)));
      return Results{{"dependencies", interpreter::to_value(found)}};
    }
  }
  return Error{ErrorCode::kInternal, "unknown operation"};
}

bool equal_words(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return (x | 0x20) == (y | 0x20); });
}

Result<InterpreterOperation> operation_called(const std::string& name) {
  std::string all;
  // In the order in which Karmada lists them.
  for (const auto operation :
       {InterpreterOperation::kRetain, InterpreterOperation::kReplicas, InterpreterOperation::kComponents,
        InterpreterOperation::kRevise, InterpreterOperation::kStatus, InterpreterOperation::kAggregate,
        InterpreterOperation::kHealth, InterpreterOperation::kDependencies}) {
    const std::string known = interpreter::names_of(operation).name;
    if (equal_words(name, known)) return operation;
    all += (all.empty() ? "" : ", ") + known;
  }
  if (name.empty()) {
    return Error{ErrorCode::kBadRequest, "operation is not set for executing: --operation, one of " + all};
  }
  return Error{ErrorCode::kBadRequest, "operation " + name + " is not supported. Use one of: " + all};
}

/// The status file has documents, or one list.
Result<Value> read_items(const std::string& file) {
  if (file.empty()) return Value{};
  SHIPLOG_TRY(auto documents, read_documents(file));
  if (documents.size() == 1 && documents.front().is_array()) return documents.front();
  return Value::array(std::move(documents));
}

}  // namespace

Result<std::vector<Value>> read_customizations(const std::vector<std::string>& files, bool recursive) {
  std::vector<std::string> all;
  for (const std::string& file : files) {
    if (!std::filesystem::is_directory(file)) {
      all.push_back(file);
      continue;
    }
    std::vector<std::string> inside;
    const auto add = [&](const std::filesystem::directory_entry& entry) {
      const std::string extension = entry.path().extension();
      const bool readable = extension == ".yaml" || extension == ".yml" || extension == ".json";
      if (entry.is_regular_file() && readable) inside.push_back(entry.path());
    };
    if (recursive) {
      for (const auto& entry : std::filesystem::recursive_directory_iterator{file}) add(entry);
    } else {
      for (const auto& entry : std::filesystem::directory_iterator{file}) add(entry);
    }
    std::ranges::sort(inside);
    all.insert(all.end(), inside.begin(), inside.end());
  }
  std::vector<Value> customizations;
  for (const std::string& file : all) {
    SHIPLOG_TRY(auto documents, read_documents(file));
    for (Value& document : documents) {
      if (document["kind"].as_string() != "ResourceInterpreterCustomization") {
        return Error{ErrorCode::kBadRequest, file + " has an object of kind \"" + document["kind"].str() +
                                                 "\": only ResourceInterpreterCustomizations are interpreted"};
      }
      customizations.push_back(std::move(document));
    }
  }
  return customizations;
}

bool check_customizations(const std::vector<Value>& customizations, const Output& to) {
  bool good = true;
  for (const Value& customization : customizations) {
    const auto bad = interpreter::bad_scripts(customization);
    const Value& target = customization["spec"]["target"];
    to.out << kRule << "\nSOURCE: " << customization["metadata"]["name"].str()
           << "\nTARGET: " << target["apiVersion"].str() << " " << target["kind"].str() << "\nRULERS:\n";
    for (const auto& names : interpreter::kOperations) {
      const std::string field = std::string{"spec.customizations."} + names.field + ".luaScript";
      const auto wrong = std::ranges::find(bad, field, &interpreter::BadScript::field);
      const bool set = !customization["spec"]["customizations"][names.field]["luaScript"].is_empty();
      const std::string label = std::string{names.name} + ":";
      to.out << "    " << label << std::string(25 - std::min<size_t>(label.size(), 24), ' ')
             << (wrong != bad.end() ? "ERROR: " + wrong->why
                 : set              ? "PASS"
                                    : "UNSET")
             << "\n";
      good = good && wrong == bad.end();
    }
  }
  to.out << std::flush;
  return good;
}

Result<bool> run_operation(const std::vector<Value>& customizations, const InterpretOptions& options,
                           const Output& to) {
  SHIPLOG_TRY(const auto operation, operation_called(options.operation));
  const auto& names = interpreter::names_of(operation);
  const bool offered_by_one = std::ranges::any_of(customizations, [&](const Value& customization) {
    return !customization["spec"]["customizations"][names.field]["luaScript"].is_empty();
  });
  // What the control plane itself knows of a kind is not what is tested here.
  if (!offered_by_one) {
    return Error{ErrorCode::kNotFound, std::string{"none of the customizations has a script for "} + names.name};
  }
  Arguments with;
  with.replicas = options.desired_replica;
  SHIPLOG_TRY(with.desired, read_object(options.desired_file));
  SHIPLOG_TRY(with.observed, read_object(options.observed_file));
  SHIPLOG_TRY(with.items, read_items(options.status_file));
  const State state = interpreting_state(customizations, {});
  const auto results = run(operation, state, with, SystemClock{}.now());
  if (!results) {
    to.err << "Execute " << names.name << " error: " << results.error().message << std::endl;
    return false;
  }
  for (size_t i = 0; i < results.value().size(); ++i) {
    const auto& [what, value] = results.value()[i];
    to.out << "---\n# [" << i + 1 << "/" << results.value().size() << "] " << what << ":\n";
    print_document(value, "yaml", to.out);
  }
  return true;
}

}  // namespace shiplog::ctl
