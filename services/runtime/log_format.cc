#include "services/runtime/log_format.h"

#include "events/base/json.h"
#include "events/base/time.h"

namespace shiplog::log {
namespace {

const char* name_of(Level level) {
  switch (level) {
    case Level::kDebug:
      return "debug";
    case Level::kInfo:
      return "info";
    case Level::kWarn:
      return "warn";
    case Level::kError:
      return "error";
  }
  return "error";
}

bool needs_quotes(std::string_view text) {
  if (text.empty()) return true;
  for (const char c : text) {
    if (c <= ' ' || c == '"' || c == '=' || c == '\\' || c == 0x7f) return true;
  }
  return false;
}

std::string_view with_last_folder(std::string_view file) {
  const size_t name = file.rfind('/');
  if (name == std::string_view::npos || name == 0) return file;
  const size_t folder = file.rfind('/', name - 1);
  return folder == std::string_view::npos ? file : file.substr(folder + 1);
}

}  // namespace

std::string payload(Format format, std::string_view event, std::initializer_list<Field> fields) {
  std::string text;
  if (format == Format::kText) {
    text = "event=";
    text += event;
    for (const Field& field : fields) {
      text += ' ';
      text += field.key;
      text += '=';
      if (needs_quotes(field.value)) {
        append_json_string(field.value, text);
      } else {
        text += field.value;
      }
    }
    return text;
  }
  text = "\"logger\":";
  append_json_string(event.substr(0, event.find('.')), text);
  text += ",\"msg\":";
  append_json_string(event, text);
  for (const Field& field : fields) {
    text += ',';
    append_json_string(field.key, text);
    text += ':';
    if (field.bare) {
      text += field.value;
    } else {
      append_json_string(field.value, text);
    }
  }
  return text;
}

std::string line(Format format, Level level, int64_t micros, std::string_view file, int number,
                 std::string_view payload) {
  std::string text;
  if (format == Format::kText) {
    text = "time=" + rfc3339_millis(UtcMillis{micros / 1000}) + " level=" + name_of(level) + " ";
    text += payload;
    text += '\n';
    return text;
  }
  const std::string fraction = std::to_string(micros % 1000);
  text = "{\"ts\":" + std::to_string(micros / 1000) + "." + std::string(3 - fraction.size(), '0') + fraction +
         ",\"level\":\"" + name_of(level) + "\",\"caller\":";
  append_json_string(std::string{with_last_folder(file)} + ":" + std::to_string(number), text);
  text += ',';
  text += payload;
  text += "}\n";
  return text;
}

}  // namespace shiplog::log
