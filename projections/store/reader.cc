#include "projections/store/reader.h"

#include <utility>

#include "events/sqlite/connection.h"
#include "projections/store/checked_table.h"
#include "projections/store/checkpoint.h"
#include "projections/store/open.h"
#include "projections/store/schemas.h"

namespace shiplog {

View::View(sqlite::Connection* connection, Revision revision, Offset next)
    : connection_{connection}, revision_{revision}, next_{next} {}
View::View(View&& other) noexcept
    : connection_{std::exchange(other.connection_, nullptr)}, revision_{other.revision_}, next_{other.next_} {}
View::~View() {
  // A read transaction has no changes: it ends regardless of the result of COMMIT.
  if (connection_ != nullptr) static_cast<void>(connection_->repeat("COMMIT"));
}

Reader::Reader(std::unique_ptr<sqlite::Connection> connection) : connection_{std::move(connection)} {}
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;
Reader::~Reader() = default;

Result<Reader> Reader::open(const std::string& path) {
  SHIPLOG_TRY(auto connection, store::open_reader(path));
  SHIPLOG_TRY(const auto checkpoint, store::read_checkpoint(*connection));
  if (!checkpoint || checkpoint->fingerprint != store::fingerprint()) {
    return Error{
        ErrorCode::kUnavailable,
        "projection " + path + (checkpoint ? " was made by another build of shiplog" : " has not been made yet")};
  }
  return Reader{std::move(connection)};
}

Result<View> Reader::view() {
  SHIPLOG_TRY(connection_->repeat("BEGIN"));
  View begun{connection_.get(), Revision{}, Offset{}};
  // The read transaction begins with the first read, so all later queries answer as of this checkpoint.
  static const std::string kRead =
      "SELECT c.revision, c.next FROM checkpoint c WHERE " + store::checkpoint_table().intact("c");
  SHIPLOG_TRY(auto row, connection_->prepare(kRead));
  SHIPLOG_TRY(const bool found, row.next());
  if (!found) return Error{ErrorCode::kUnavailable, "projection " + connection_->path() + " is being made anew"};
  begun.revision_ = Revision{static_cast<uint64_t>(row.integer(0))};
  begun.next_ = Offset{row.integer(1)};
  return begun;
}

}  // namespace shiplog
