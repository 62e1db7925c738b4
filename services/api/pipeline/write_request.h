#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "events/entry.h"
#include "services/api/pipeline/rejection.h"
#include "services/api/request.h"
#include "services/runtime/replica.h"

namespace shiplog::api {

/// What a write makes of the current object: the desired object, which passes through the stages.
struct Proposal {
  std::string operation = {};  ///< as in AdmissionReviews: CREATE, UPDATE, DELETE
  std::string verb = {};       ///< of the journal's entry: create, update, patch, delete
  int success = 200;           ///< the HTTP status of the answer
  std::string name = {};       ///< of the object; empty until metadata.generateName is expanded
  Value old = {};              ///< the current object, opened; null: there is none
  Value object = {};           ///< null: it is deleted. Of a subresource with a body of its own (Scale): that body
  std::vector<std::string> duplicate_fields = {};  ///< one line about each key that stood twice in the body
  bool outdated = false;                           ///< see Current: it is stored anew even if nothing changes
  bool applied = false;                            ///< the object has its field owners already
  Value current = {};                              ///< of a subresource: the object that it belongs to
  Value managed = {};  ///< metadata.managedFields as the client sent it, while the object is admitted
  std::vector<std::string> warnings = {};
  std::optional<Value> in_namespace = {};  ///< see AdmissionRequest, once it was read
};

/// What a write puts into the journal.
struct WriteChanges {
  enum class Put { kNothing, kCreate, kReplace, kReplaceStatus };
  Put put = Put::kNothing;
  Value object = {};               ///< what is put; opened and in the version of the request
  Revision expected = {};          ///< the revision of the object that is replaced
  std::vector<Event> events = {};  ///< further events
  std::vector<Expect> expects = {};
  bool gone = false;  ///< of a deletion that is not carried out (dry run): it would remove the object
};

/// What became of it.
struct Committed {
  Value object = {};
  bool sealed = false;          ///< the object is as it is stored; else as it was computed, and nothing was stored
  Feed::ChangePtr change = {};  ///< that stored the object; nullptr: none did
  bool gone = false;            ///< the object has been removed
};

/// The answer to a write.
struct WriteAnswer {
  int status = 200;
  Value body = {};
  bool is_status = false;  ///< a metav1.Status, which is never shown as a Table
};

/// What a write reads before it is computed: nothing, nothing yet but from a store that is current, the current object.
enum class WriteReads { kNothing, kStore, kObject };

/// How a write is admitted: as an object of its kind, as the body of a subresource, as a deletion, or not at all.
enum class WriteForm { kObject, kStatus, kSubresource, kDeletion, kReview };

/// Of the object, or of its status.
inline WriteForm write_form_of(const ResourcePath& path) {
  return path.subresource == "status" || path.subresource == "approval" ? WriteForm::kStatus : WriteForm::kObject;
}

/// The revision of an object as it was read; 0: none that can be read.
Revision revision_of(const Value& object);

/// One write, as the codec of its verb decodes it. Move-only: the body travels through the stages without a copy.
struct WriteRequest {
  WriteRequest() = default;
  WriteRequest(WriteRequest&&) = default;
  WriteRequest& operator=(WriteRequest&&) = default;
  WriteRequest(const WriteRequest&) = delete;
  WriteRequest& operator=(const WriteRequest&) = delete;
  ~WriteRequest() = default;

  ObjectKey key;  ///< what is written; the name is empty until metadata.generateName is expanded
  WriteForm form = WriteForm::kObject;
  WriteParameters parameters;
  Value delete_options = Value::object();  ///< of a deletion: the fields of DeleteOptions that the client has set
  WriteReads reads = WriteReads::kObject;
  bool rewrites = true;                    ///< the current object is written anew, so a large one makes a large request
  bool replaces_unreadable = false;        ///< also if its content is lost: it is replaced or removed as a whole
  bool retries_conflicts = false;          ///< the client names no version: computed again if another write was first
  std::vector<std::string> warnings = {};  ///< of a deletion, whatever it deletes

  /// The new object from the current one, or from why there is none. Called once for each try.
  std::function<StageResult<Proposal>(Result<Value> current)> propose;
  /// What is stored, of an admitted proposal; may block. Not set: the object.
  std::function<StageResult<WriteChanges>(Proposal& proposal)> changes;
  /// The answer; may block. Not set: the object.
  std::function<Result<WriteAnswer>(const Proposal& proposal, const Committed& committed)> answer;
  /// The words in which a rejection is answered; not set: those of the stage that rejects.
  std::function<Rejection(Rejection)> reported;
  /// Of the deletion of a collection: that of one of its objects, as it was listed.
  std::function<WriteRequest(const ObjectKey& object, Value read)> for_object;
};

}  // namespace shiplog::api
