#include "services/feeds/protobuf_format.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include "schemas/feeds/cloudevent.pb.h"

namespace shiplog::feeds {

std::string to_protobuf(const CloudEvent& event) {
  constexpr int64_t kMillis = 1000;
  constexpr int32_t kNanosPerMilli = 1'000'000;
  io::cloudevents::v1::CloudEvent message;
  message.set_id(event.id);
  message.set_source(event.source);
  message.set_spec_version("1.0");
  message.set_type(event.type);
  auto& attributes = *message.mutable_attributes();
  for (const auto& [name, value] : event.extensions) attributes[name].set_ce_string(value);
  attributes["datacontenttype"].set_ce_string("application/json");
  attributes["dataschema"].set_ce_uri(event.data_schema);
  if (!event.subject.empty()) attributes["subject"].set_ce_string(event.subject);
  auto& time = *attributes["time"].mutable_ce_timestamp();
  time.set_seconds(event.time.value / kMillis);
  time.set_nanos(static_cast<int32_t>(event.time.value % kMillis) * kNanosPerMilli);
  message.set_text_data(event.data);

  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream{&bytes};
    google::protobuf::io::CodedOutputStream out{&stream};
    out.SetSerializationDeterministic(true);  // the order of a map's entries
    message.SerializeToCodedStream(&out);
  }
  return bytes;
}

}  // namespace shiplog::feeds
