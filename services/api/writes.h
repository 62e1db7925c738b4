#pragma once

#include <functional>
#include <string>
#include <vector>

#include "services/api/admission/admission.h"
#include "services/api/apply/managed_fields.h"
#include "services/api/context.h"
#include "services/api/webhooks/ask.h"

// What creating and updating have in common: from a body that was read to the entry in the journal and its answer.
namespace shiplog::api {

/// A write that names no version is computed again this often when somebody else was faster: each time one of those
/// who write the same object is done, so this is how many may do so at once without one of them hearing of it (PT-6).
constexpr int kTries = 100;

/// What the writing verbs have in common behind admission: seal, append, answer.
struct Write {
  std::string verb;
  int success = 200;
  bool status = false;                            // through the status subresource
  std::function<void(const Error&)> on_conflict;  // somebody was faster
  std::function<void()> on_address_taken = {};    // another Service got the address that was proposed for this one
};

/// A replacement on its way to the journal. `applied`: the object already says who owns what.
struct Update {
  WriteOptions options;
  Value old;
  Value object;
  Write write;
  std::vector<std::string> duplicates = {};  // keys that stood twice in the body
  bool applied = false;
  Value managed = {};                      // metadata.managedFields as the client sent it
  std::vector<std::string> warnings = {};  // from before it was admitted
};

/// A new object on its way to the journal. `applied`: it already says who owns what.
struct Creation {
  WriteOptions options;
  Value object;
  Write write;
  std::vector<std::string> duplicates = {};  // keys that stood twice in the body
  bool applied = false;
  Value managed = {};                      // metadata.managedFields as the client sent it
  std::vector<std::string> warnings = {};  // from before it was admitted
  int tries = kTries;                      // at addresses that are still free
};

/// Both where they may block; they answer.
void create_from(const ServerPtr& server, const ContextPtr& context, Creation creation);
void update_from(const ServerPtr& server, const ContextPtr& context, Update update);

/// The kind whose form a write is checked and tracked in: a view's is that of what is stored.
const Kind& written_kind(const Context& context);
Admission admission_for(Server& server, const Context& context, const WriteOptions& options);
FieldWriter field_writer_for(const Server& server, const Context& context, const WriteOptions& options);
/// Who owns which field of `object`, now that `before` has become that. `given`: metadata.managedFields as the client
/// sent it, which admission has set aside.
Value tracked(const Server& server, const Context& context, const WriteOptions& options, const Value& before,
              Value object, const Value& given);
/// The body of a write to a view in the form of what is stored; any other as it is.
Result<Value> stored_form(Server& server, const Context& context, const WriteOptions& options,
                          std::vector<std::string>& duplicates, Value object, std::vector<std::string>& warnings,
                          bool creating);

/// The object with the addresses that it lacks, if it is a Service and this server gives them. `before`: null when it
/// is created. Errors: those of the Allocator, in kubectl's words.
Result<Value> addressed(Server& server, const Context& context, const Value& before, Value object);

/// Answers and leaves a trace of what was not allowed.
void refuse(const ServerPtr& server, const ContextPtr& context, const Error& error);
/// The same, of what a webhook denied.
void deny(const ServerPtr& server, const ContextPtr& context, const Denial& denial);
void add_warnings(Context& context, std::vector<std::string> warnings);
/// Webhooks' turn at a subresource whose body is no object of its kind (a Scale, an Eviction, a Binding, a
/// TokenRequest; apiVersion and kind must be set in it): `then` gets what the mutating ones leave of `body`, once
/// nobody objects; else the denial is the answer. Call where it may block.
void past_webhooks(const ServerPtr& server, const ContextPtr& context, const std::string& operation, bool dry_run,
                   const Value& old, const Value& body, std::function<void(const Value&)> then);
/// Of parts of an object that nothing acts on yet.
void warn_of_idle_parts(Context& context, const Value& object);
/// Clients look for this one (NSP-4).
FieldCause being_terminated(const std::string& ns);
/// The namespace is not there: the answer is about that.
void fail_without_namespace(const ServerPtr& server, const ContextPtr& context, const std::string& ns);

/// The revision a client says it read; 0: none given. Error: kInvalid, no number.
Result<Revision> stated_revision(const Value& object);
/// 0: none that can be read.
Revision revision_of(const Value& object);

/// Seals, appends and answers. `expected` 0: it is created.
void append_object(const ServerPtr& server, const ContextPtr& context, const Write& write, const ObjectKey& key,
                   Revision expected, Value object);

}  // namespace shiplog::api
