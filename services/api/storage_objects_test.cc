#include "services/api/storage_objects.h"

#include <gtest/gtest.h>

namespace shiplog::api {
namespace {

bool has(const std::string& line) { return ("\n" + metrics::text()).find("\n" + line + "\n") != std::string::npos; }

Change change_of(const std::string& name, bool created, bool removed) {
  Change change;
  change.object = {"sofas.example.com", "default", name};
  if (!created) change.before = Value::object({{"a", 1}});
  if (!removed) change.after = Value::object({{"a", 2}});
  return change;
}

TEST(StorageObjects, CountCreationsAndRemovals) {
  StorageObjects objects;
  Folded folded;
  folded.changes = {change_of("a", true, false), change_of("b", true, false), change_of("b", false, false)};
  objects.on_folded(State{}, DecodedRecord{}, folded);
  EXPECT_TRUE(has(R"(apiserver_storage_objects{resource="sofas.example.com"} 2)"));
  folded.changes = {change_of("a", false, true)};
  objects.on_folded(State{}, DecodedRecord{}, folded);
  EXPECT_TRUE(has(R"(apiserver_storage_objects{resource="sofas.example.com"} 1)"));
}

}  // namespace
}  // namespace shiplog::api
