// Keeps the schema readable for ever: what a field once was, it stays.
#include <map>
#include <memory>
#include <random>
#include <set>
#include <sstream>
#include <vector>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <gtest/gtest.h>

#include "events/codec/codec.h"
#include "events/codec/fact_samples.h"
#include "events/codec/samples.h"
#include "tests/replay/golden.h"

namespace shiplog {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::DescriptorPool;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptor;
using google::protobuf::Message;

constexpr const char* kFieldList = GOLDEN_FOLDER "/fields.txt";

// The event schema as protoc read it in this build.
class EventSchema {
 public:
  EventSchema() {
    google::protobuf::FileDescriptorSet set;
    EXPECT_TRUE(set.ParseFromString(golden::read_file(EVENT_DESCRIPTORS)));
    // protoc writes a file after all that it imports.
    for (const auto& file : set.file()) files_.push_back(pool_.BuildFile(file));
  }

  std::vector<const Descriptor*> messages() const {
    std::vector<const Descriptor*> all;
    for (const FileDescriptor* file : files_) {
      EXPECT_NE(file, nullptr);
      EXPECT_EQ(file->enum_type_count(), 0) << file->name() << ": the list of fields does not cover enums";
      for (int at = 0; at < file->message_type_count(); ++at) {
        all.push_back(file->message_type(at));
        EXPECT_EQ(all.back()->nested_type_count(), 0) << all.back()->name() << ": nor nested messages, nor maps";
      }
    }
    return all;
  }

  const Descriptor* message(const std::string& name) const {
    return pool_.FindMessageTypeByName("shiplog.events.v1." + name);
  }

 private:
  DescriptorPool pool_;
  std::vector<const FileDescriptor*> files_;
};

// "Target.cluster = 1 : string : one". All that old bytes depend on, and the name, which tools and JSON depend on.
std::string line_of(const FieldDescriptor& field) {
  std::string label = field.is_repeated() ? "repeated" : "one";
  if (field.is_packed()) label += " packed";
  if (field.real_containing_oneof() != nullptr) label = "oneof " + field.real_containing_oneof()->name();
  if (field.has_optional_keyword()) label = "optional";
  const std::string type = field.message_type() == nullptr ? field.type_name() : field.message_type()->name();
  return field.containing_type()->name() + "." + field.name() + " = " + std::to_string(field.number()) + " : " + type +
         " : " + label;
}

TEST(Schema, KeepsEveryFieldAsItOnceWas) {
  const EventSchema schema;
  std::vector<std::string> fields;
  for (const Descriptor* message : schema.messages()) {
    for (int at = 0; at < message->field_count(); ++at) fields.push_back(line_of(*message->field(at)));
  }
  std::string committed = golden::read_file(kFieldList);
  std::set<std::string> listed;
  std::istringstream lines{committed};
  for (std::string line; std::getline(lines, line);) listed.insert(line);

  const std::set<std::string> now{fields.begin(), fields.end()};
  for (const std::string& line : listed) {
    EXPECT_TRUE(now.contains(line)) << "removed or changed: " << line << "\nJournals hold it. Bring the field back as "
                                    << "it was, and add a new one beside it.";
  }
  for (const std::string& line : fields) {
    if (listed.contains(line)) continue;
    if (golden::updating()) committed += line + "\n";
    EXPECT_TRUE(golden::updating()) << "new: " << line << "\nRun replay_golden_test --update-golden and commit.";
  }
  if (golden::updating()) golden::write_file(kFieldList, committed);
}

/// Explanation.facts, as protoc's descriptors read it: the codec writes it without generated classes.
class FactsMessage {
 public:
  explicit FactsMessage(const EventSchema& schema)
      : message_{factory_.GetPrototype(schema.message("ExplanationFacts"))->New()} {}

  const Message& read(const std::string& bytes) {
    EXPECT_TRUE(message_->ParseFromString(bytes));
    EXPECT_TRUE(message_->GetReflection()->GetUnknownFields(*message_).empty()) << message_->DebugString();
    EXPECT_EQ(message_->SerializeAsString(), bytes) << "not as Protobuf writes it";
    return *message_;
  }

 private:
  google::protobuf::DynamicMessageFactory factory_;
  std::unique_ptr<Message> message_;
};

// Marks what is set in `message`, and below it.
void mark_set(const Message& message, FactsMessage& facts, std::set<const FieldDescriptor*>& seen) {
  std::vector<const FieldDescriptor*> set;
  message.GetReflection()->ListFields(message, &set);
  for (const FieldDescriptor* field : set) {
    seen.insert(field);
    if (field->full_name() == "shiplog.events.v1.Explanation.facts") {
      mark_set(facts.read(message.GetReflection()->GetString(message, field)), facts, seen);
    }
    if (field->message_type() == nullptr) continue;
    const auto* reflection = message.GetReflection();
    if (!field->is_repeated()) mark_set(reflection->GetMessage(message, field), facts, seen);
    for (int at = 0; field->is_repeated() && at < reflection->FieldSize(message, field); ++at) {
      mark_set(reflection->GetRepeatedMessage(message, field, at), facts, seen);
    }
  }
}

// Fields of explanations in words, which only journals of earlier builds have.
bool only_read(const FieldDescriptor& field) {
  const std::string message = field.containing_type()->name();
  if (message == "Verdict" || message == "Judgement" || message == "ClusterExplanation") return true;
  return message == "Explanation" && field.name() != "inputs_digest" && field.name() != "facts";
}

TEST(Schema, HasNoFieldThatTheCodecDoesNotWrite) {
  const EventSchema schema;
  google::protobuf::DynamicMessageFactory factory;
  const std::unique_ptr<Message> entry{factory.GetPrototype(schema.message("Entry"))->New()};
  ASSERT_TRUE(entry->ParseFromString(encode(samples::entry_of(samples::every_kind()))));
  std::set<const FieldDescriptor*> seen;
  FactsMessage facts{schema};
  mark_set(*entry, facts, seen);
  ASSERT_TRUE(entry->ParseFromString(encode(samples::produced_entry())));
  mark_set(*entry, facts, seen);
  for (const Descriptor* message : schema.messages()) {
    for (int at = 0; at < message->field_count(); ++at) {
      const FieldDescriptor& field = *message->field(at);
      EXPECT_EQ(seen.contains(&field), !only_read(field)) << line_of(field);
    }
  }
}

PlacementDecided any_placement(std::mt19937& random) {
  const auto below = [&](uint32_t bound) { return static_cast<uint32_t>(random() % bound); };
  // Names of any length around those at which a length takes one byte more, some of them no UTF-8.
  const auto name = [&] { return std::string(below(2) == 0 ? below(20) : below(300), below(9) == 0 ? '\xC3' : 'n'); };
  const auto number = [&] { return below(3) == 0 ? int64_t{0} : static_cast<int64_t>(random()) << below(33); };
  PlacementDecided placement;
  placement.binding = {name(), name(), name()};
  for (uint32_t i = below(4) == 0 ? 0 : below(1500); i > 0; --i) placement.targets.push_back({name(), -number()});
  placement.observed_generation = number();
  placement.applied_placement = name();
  placement.affinity_name = name();
  for (uint32_t i = below(3); i > 0; --i) placement.components.push_back({name(), number()});
  if (below(4) == 0) return placement;
  placement.why.inputs_digest = name();
  if (below(4) == 0) return placement;
  placement.why.judgements.push_back({{{"ClusterAffinity", true, {}}}, {{"ClusterLocality", number()}}});
  for (uint32_t i = below(1500); i > 0; --i) placement.why.clusters.push_back({name(), below(2), number(), -1});
  placement.why.steps.emplace_back(ReplicasKept{number(), {below(9), below(300)}, {number(), number()}});
  return placement;
}

TEST(Schema, PlacementsAreWrittenAsProtobufWritesThem) {
  const EventSchema schema;
  google::protobuf::DynamicMessageFactory factory;
  const std::unique_ptr<Message> message{factory.GetPrototype(schema.message("Entry"))->New()};
  std::mt19937 random{202};
  for (int round = 0; round < 200; ++round) {
    std::vector<Event> events;
    for (int left = 1 + round % 3; left > 0; --left) {
      events.emplace_back(any_placement(random));
      if (random() % 2 == 0) events.insert(events.begin(), samples::every_kind()[random() % 4]);
    }
    const std::string bytes = encode(samples::entry_of(std::move(events)));
    ASSERT_TRUE(message->ParseFromString(bytes)) << "round " << round;
    ASSERT_TRUE(message->GetReflection()->GetUnknownFields(*message).empty());
    ASSERT_EQ(message->SerializeAsString(), bytes) << "round " << round;
    const auto read = decode(bytes);
    ASSERT_TRUE(read) << read.error().message;
    ASSERT_EQ(encode(read.value()), bytes);
  }
}

TEST(Schema, NamesFactsAndTheirMembersAsTheCodeDoes) {
  const EventSchema schema;
  const Descriptor* oneof = schema.message("Fact");
  ASSERT_EQ(oneof->field_count(), static_cast<int>(std::variant_size_v<FactVariant>));
  for (const Fact& fact : samples::every_fact()) {
    std::visit(
        [&](const auto& kind) {
          const auto& info = std::decay_t<decltype(kind)>::kInfo;
          const FieldDescriptor* field = oneof->FindFieldByNumber(static_cast<int>(info.number));
          ASSERT_NE(field, nullptr) << info.name;
          const Descriptor* message = field->message_type();
          EXPECT_EQ(message->name(), info.name);
          ASSERT_EQ(message->field_count(), static_cast<int>(info.members.size())) << info.name;
          for (int at = 0; at < message->field_count(); ++at) {
            EXPECT_EQ(message->field(at)->number(), at + 1) << info.name;
            EXPECT_EQ(message->field(at)->json_name(), info.members[static_cast<size_t>(at)]) << info.name;
          }
        },
        static_cast<const FactVariant&>(fact));
  }
}

TEST(Schema, NamesTheFamilyByTheHundredsOfAKindsNumber) {
  const EventSchema schema;
  const std::map<int, std::string> files = {{1, "api"},   {2, "scheduling"}, {3, "dispatch"}, {4, "taint"},
                                            {5, "quota"}, {6, "cluster"},    {7, "control"}};
  const Descriptor* event = schema.message("Event");
  ASSERT_EQ(event->field_count(), static_cast<int>(std::variant_size_v<EventVariant>));
  for (int at = 0; at < event->field_count(); ++at) {
    const FieldDescriptor* kind = event->field(at);
    EXPECT_EQ(kind->message_type()->file()->name(), "schemas/events/v1/" + files.at(kind->number() / 100) + ".proto");
  }
}

}  // namespace
}  // namespace shiplog
