#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>

#include "events/base/json.h"
#include "events/base/system.h"
#include "events/base/utf8.h"
#include "services/programs/parquet/writer.h"
#include "services/programs/shiplogctl/audit_commands.h"
#include "services/programs/shiplogctl/csv.h"

namespace shiplog::ctl {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds kBetweenReports{2};

Error bad_export(std::string message) { return {ErrorCode::kBadRequest, std::move(message)}; }

/// A column of CSV and Parquet files: as the view `entries` of SQL has it.
struct ExportColumn {
  const char* name;
  parquet::Type type;
};
constexpr ExportColumn kColumns[] = {{"offset", parquet::Type::kInt64},     {"time", parquet::Type::kTime},
                                     {"id", parquet::Type::kText},          {"user", parquet::Type::kText},
                                     {"groups", parquet::Type::kText},      {"service", parquet::Type::kText},
                                     {"source_ip", parquet::Type::kText},   {"user_agent", parquet::Type::kText},
                                     {"verb", parquet::Type::kText},        {"path", parquet::Type::kText},
                                     {"result", parquet::Type::kText},      {"refusal", parquet::Type::kText},
                                     {"reason", parquet::Type::kText},      {"revision", parquet::Type::kInt64},
                                     {"as_of", parquet::Type::kInt64},      {"cause_revision", parquet::Type::kInt64},
                                     {"cause_entry", parquet::Type::kText}, {"trace", parquet::Type::kText},
                                     {"events", parquet::Type::kText},      {"also_changed", parquet::Type::kText}};

parquet::Cell text_cell(const Value& value) {
  if (value.is_null()) return {};
  return value.is_string() ? value.str() : to_json(value);
}
parquet::Cell number_cell(const Value& value) {
  if (value.is_null()) return {};
  return value.as_int();
}

/// In the order of kColumns.
Result<std::vector<parquet::Cell>> cells_of(const Value& entry) {
  SHIPLOG_TRY(const UtcMillis time, parse_rfc3339(entry["time"].as_string()));
  return std::vector<parquet::Cell>{number_cell(entry["offset"]),
                                    time.value,
                                    text_cell(entry["id"]),
                                    text_cell(entry["user"]),
                                    text_cell(entry["groups"]),
                                    text_cell(entry["service"]),
                                    text_cell(entry["sourceIP"]),
                                    text_cell(entry["userAgent"]),
                                    text_cell(entry["verb"]),
                                    text_cell(entry["path"]),
                                    text_cell(entry["result"]),
                                    text_cell(entry["refusal"]["code"]),
                                    text_cell(entry["refusal"]["reason"]),
                                    number_cell(entry["revision"]),
                                    number_cell(entry["asOf"]),
                                    number_cell(entry["cause"]["revision"]),
                                    text_cell(entry["cause"]["entry"]),
                                    text_cell(entry["trace"]),
                                    text_cell(entry["events"]),
                                    text_cell(entry["alsoChanged"])};
}

std::string csv_head() {
  std::vector<std::string> names;
  for (const ExportColumn& column : kColumns) names.emplace_back(column.name);
  return csv_record(names);
}

std::string csv_row(const std::vector<parquet::Cell>& cells) {
  std::vector<std::string> fields;
  for (size_t index = 0; index < cells.size(); ++index) {
    if (const auto* number = std::get_if<int64_t>(&cells[index])) {
      fields.push_back(kColumns[index].type == parquet::Type::kTime ? rfc3339_millis(UtcMillis{*number})
                                                                    : std::to_string(*number));
    } else if (const auto* text = std::get_if<std::string>(&cells[index])) {
      fields.push_back(csv_text(*text));
    } else {
      fields.emplace_back();
    }
  }
  return csv_record(fields);
}

/// Writes the records of one export, and knows how to continue it.
class Export {
 public:
  Export(ServerConnection& plane, const AuditExportOptions& options, const Output& to)
      : plane_{plane}, options_{options}, to_{to}, out_{&to.out}, next_{options.from} {}

  Result<void> run() {
    SHIPLOG_TRY(open());
    if (options_.format == "parquet") make_parquet();
    auto done = options_.format == "cloudevents" ? cloud_events() : entries();
    if (done && parquet_) done = parquet_->finish();
    out_->flush();
    if (done && !*out_) done = Error{ErrorCode::kIo, "the output cannot be written: is the disk full?"};
    if (!done) return done.error().context("exported " + std::to_string(count_) + " " + what() + how_to_continue());
    to_.err << "exported " << count_ << " " << what() << "; the next export can begin with --from=" << next_
            << std::endl;
    return ok();
  }

 private:
  const char* what() const { return options_.format == "cloudevents" ? "events" : "entries"; }
  std::string how_to_continue() const {
    if (options_.format == "parquet") return " (the file is not complete; begin again, or with --from in another file)";
    if (options_.file.empty()) return " (continue with --from=" + std::to_string(next_) + ")";
    return " (the same command with --append continues)";
  }

  /// With --append, continues behind the last complete record.
  Result<void> open() {
    const std::string& file = options_.file;
    if (file.empty()) return options_.append ? bad_export("--append needs -o FILE") : Result<void>{ok()};
    const bool exists = std::filesystem::exists(file);
    if (exists && !options_.append) {
      return bad_export(file + " exists: remove it, name another file, or continue it with --append");
    }
    if (options_.append && options_.format == "parquet")
      return bad_export("a Parquet file cannot be continued: name another one");
    if (exists && !std::filesystem::is_regular_file(file)) return bad_export(file + " is not a regular file");
    if (exists) {
      SHIPLOG_TRY(resume());
    }
    file_ = std::make_unique<std::ofstream>(file, std::ios::binary | std::ios::app);
    if (!*file_) return Error{ErrorCode::kIo, "cannot write " + file};
    out_ = file_.get();
    return ok();
  }

  Result<void> resume() {
    std::ifstream written{options_.file, std::ios::binary};
    const bool csv = options_.format == "csv";
    const CompleteRecords complete = csv ? complete_csv(written) : complete_lines(written);
    written.close();
    has_head_ = complete.records > 0;
    const auto other = [&] {
      return bad_export(options_.file + " ends with something that is not of such an export: name another file");
    };
    if (complete.records < (csv ? 2U : 1U)) {
      // Only the head, or not even a first record: what is cut off must be the beginning of one.
      const std::string begin = complete.last + (complete.records > 0 ? "\r\n" : complete.rest);
      if (csv ? !csv_head().starts_with(begin) : !begin.empty() && begin.front() != '{') return other();
      return cut_to(complete.bytes);
    }
    const auto last = parse_json(csv ? complete.last.substr(0, complete.last.find(',')) : complete.last);
    if (!last) return other();
    if (options_.format == "cloudevents") {
      after_ = last.value()["sequence"].str();
      if (after_.empty()) return other();
      return cut_to(complete.bytes);
    }
    const Value& offset = csv ? last.value() : last.value()["offset"];
    if (!offset.is_int()) return other();
    next_ = offset.as_int() + 1;
    return cut_to(complete.bytes);
  }

  Result<void> cut_to(uint64_t bytes) const {
    std::error_code wrong;
    std::filesystem::resize_file(options_.file, bytes, wrong);
    if (wrong) return Error{ErrorCode::kIo, "cannot write " + options_.file + ": " + wrong.message()};
    return ok();
  }

  void make_parquet() {
    std::vector<parquet::ParquetColumn> columns;
    for (const ExportColumn& column : kColumns) columns.push_back({column.name, column.type});
    parquet_ =
        std::make_unique<parquet::ParquetWriter>(std::move(columns), [this](std::string_view bytes) -> Result<void> {
          *out_ << bytes;
          if (!*out_) return Error{ErrorCode::kIo, "the output cannot be written: is the disk full?"};
          return ok();
        });
  }

  void report(const Value& time) {
    if (steady_clock::now() < next_report_) return;
    next_report_ = steady_clock::now() + kBetweenReports;
    to_.err << "... " << count_ << " " << what() << ", at " << time.str() << std::endl;
  }

  Result<void> entries() {
    HttpRequest::Query query{{"from", std::to_string(next_)}};
    const AuditOptions& filter = options_.filter;
    for (const auto& [name, value] :
         std::initializer_list<std::pair<const char*, const std::string&>>{{"user", filter.user},
                                                                           {"service", filter.service},
                                                                           {"verb", filter.verb},
                                                                           {"kind", filter.kind},
                                                                           {"name", filter.name},
                                                                           {"namespace", filter.ns},
                                                                           {"family", filter.family},
                                                                           {"trace", filter.trace},
                                                                           {"since", filter.since},
                                                                           {"until", filter.until}}) {
      if (!value.empty()) query.emplace_back(name, value);
    }
    if (filter.refused) query.emplace_back("refused", "true");
    if (options_.format == "csv" && !has_head_) *out_ << csv_head();
    return lines("/shiplog/v1/events", query,
                 [this](std::string_view line, const Value& entry) { return add(line, entry); });
  }

  Result<void> add(std::string_view line, const Value& entry) {
    if (options_.format == "jsonl") {
      *out_ << line << '\n';
    } else {
      SHIPLOG_TRY(const auto cells, cells_of(entry));
      if (parquet_) {
        SHIPLOG_TRY(parquet_->add(cells));
      } else {
        *out_ << csv_row(cells);
      }
    }
    next_ = entry["offset"].as_int() + 1;
    ++count_;
    report(entry["time"]);
    return ok();
  }

  Result<void> cloud_events() {
    const AuditOptions& filter = options_.filter;
    if (!filter.kind.empty() || !filter.name.empty() || !filter.ns.empty() || filter.refused) {
      return bad_export(
          "CloudEvents are of accepted entries only, and are chosen by --family, --user, --service, --verb, "
          "--trace, --since and --until");
    }
    std::optional<UtcMillis> since, until;
    SHIPLOG_TRY(since, time_of("--since", filter.since));
    SHIPLOG_TRY(until, time_of("--until", filter.until));
    HttpRequest::Query query{{"follow", "false"}};
    if (!after_.empty()) {
      query.emplace_back("after", after_);
    } else if (next_ > 0) {
      query.emplace_back("after", std::to_string(next_ - 1) + ".999999");
    }
    const std::string feed = filter.family.empty() ? "all" : filter.family;
    return lines("/feeds/" + feed, query, [&](std::string_view line, const Value& event) -> Result<void> {
      SHIPLOG_TRY(const UtcMillis time, parse_rfc3339(event["time"].as_string()));
      const Value& request = event["data"]["request"];
      const std::string& sequence = event["sequence"].str();
      next_ = std::stoll("0" + sequence.substr(0, sequence.find('.'))) + 1;
      report(event["time"]);
      if ((since && time < *since) || (until && time >= *until) ||
          (!filter.user.empty() && request["user"].as_string() != filter.user) ||
          (!filter.service.empty() && request["service"].as_string() != filter.service) ||
          (!filter.verb.empty() && request["verb"].as_string() != filter.verb) ||
          (!filter.trace.empty() && event["traceid"].as_string() != filter.trace)) {
        return ok();
      }
      *out_ << line << '\n';
      ++count_;
      return ok();
    });
  }

  static Result<std::optional<UtcMillis>> time_of(const char* option, const std::string& text) {
    if (text.empty()) return std::nullopt;
    if (const auto ago = parse_duration(text)) {
      return std::optional{UtcMillis{SystemClock{}.now().value - ago.value().value}};
    }
    const auto time = parse_rfc3339(text);
    if (!time)
      return bad_export(std::string{option} + ": " + shiplog::quoted(text) +
                        " is neither a time like 2024-05-01T12:00:00Z nor a duration like 1h30m");
    return std::optional{time.value()};
  }

  template <class Each>
  Result<void> lines(const std::string& path, const HttpRequest::Query& query, Each each) {
    Result<void> done = ok();
    SHIPLOG_TRY(plane_.lines(path, query, [&](std::string_view line) {
      const auto record = parse_json(line);
      if (!record) {
        done = record.error().context("reading " + path);
      } else if (record.value()["kind"].as_string() == "Status") {
        done = Error{ErrorCode::kInternal, "the server has interrupted it: " + record.value()["message"].str()};
      } else {
        done = each(line, record.value());
        if (done && !*out_) done = Error{ErrorCode::kIo, "the output cannot be written: is the disk full?"};
      }
      return done.has_value();
    }));
    return done;
  }

  ServerConnection& plane_;
  const AuditExportOptions& options_;
  const Output& to_;
  std::unique_ptr<std::ofstream> file_;
  std::ostream* out_;
  std::unique_ptr<parquet::ParquetWriter> parquet_;
  steady_clock::time_point next_report_ = steady_clock::now() + kBetweenReports;
  int64_t next_;
  uint64_t count_ = 0;
  bool has_head_ = false;
  std::string after_;
};

}  // namespace

Result<void> audit_export(ServerConnection& plane, const AuditExportOptions& options, const Output& to) {
  return Export{plane, options, to}.run();
}

}  // namespace shiplog::ctl
