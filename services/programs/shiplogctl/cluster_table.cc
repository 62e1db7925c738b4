#include "services/programs/shiplogctl/cluster_table.h"

#include <algorithm>

#include "events/base/ascii.h"
#include "events/base/json.h"
#include "events/base/json_path.h"
#include "events/base/quantity.h"
#include "events/base/utf8.h"
#include "services/programs/shiplogctl/bindings.h"

namespace shiplog::ctl {
namespace {

constexpr const char* kNone = "<none>";
constexpr size_t kLongestCell = 4096;
constexpr const char* kManaged = "karmada.io/managed";
constexpr JsonPathTemplate::Evaluation kSortKey{100'000, 4096, true};

std::string upper(std::string text) {
  for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return text;
}

/// What a member prints must not control the terminal.
std::string text_of(const Value& cell) {
  if (cell.is_null()) return kNone;
  return printable(cell.is_string() ? cell.str() : to_json(cell), kLongestCell);
}

/// "zone" for "topology.kubernetes.io/zone", as kubectl heads the columns of -L.
std::string label_heading(const std::string& label) { return upper(label.substr(label.rfind('/') + 1)); }

std::string labels_of(const Value& object) {
  std::string text;
  for (const Value::Member& label : object["metadata"]["labels"].members()) {
    text += (text.empty() ? "" : ",") + std::string{label.key()} + "=" + label.value.str();
  }
  return text.empty() ? kNone : printable(text, kLongestCell);
}

/// Natural order: runs of digits compare as numbers.
bool natural_less(std::string_view a, std::string_view b) {
  const auto digits = [](std::string_view text) {
    const size_t end = text.find_first_not_of("0123456789");
    return text.substr(0, end);
  };
  while (!a.empty() && !b.empty()) {
    const auto left = digits(a);
    const auto right = digits(b);
    if (!left.empty() && !right.empty()) {
      const auto significant = [](std::string_view number) {
        const size_t begin = number.find_first_not_of('0');
        return begin == std::string_view::npos ? std::string_view{} : number.substr(begin);
      };
      const auto x = significant(left);
      const auto y = significant(right);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
      a.remove_prefix(left.size());
      b.remove_prefix(right.size());
      continue;
    }
    if (a.front() != b.front()) return a.front() < b.front();
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  return a.size() < b.size();
}

/// All keys are compared alike, or the order would contradict itself.
class SortKeys {
 public:
  static Result<SortKeys> make(const std::string& path) {
    std::string text = path;
    if (text.starts_with("{") && text.ends_with("}")) text = text.substr(1, text.size() - 2);
    auto parsed = JsonPathTemplate::parse("{" + std::string{text.starts_with(".") || text.starts_with("[") ? "" : "."} +
                                          text + "}");
    if (!parsed) return parsed.error().context("--sort-by " + path);
    return SortKeys{std::move(parsed).value()};
  }
  Result<void> add(const Value& object) {
    SHIPLOG_TRY(auto key, path_.evaluate(object, kSortKey));
    const auto quantity = parse_quantity(key);
    all_quantities_ = all_quantities_ && (quantity || key.empty());
    quantities_.push_back(quantity ? quantity.value() : Quantity{});
    texts_.push_back(std::move(key));
    return ok();
  }
  /// The positions of the objects in their order. What has no value is first, as with kubectl.
  std::vector<size_t> order() const {
    std::vector<size_t> positions(texts_.size());
    for (size_t i = 0; i < positions.size(); ++i) positions[i] = i;
    std::ranges::stable_sort(positions, [this](size_t a, size_t b) {
      if (texts_[a].empty() || texts_[b].empty()) return texts_[a].empty() && !texts_[b].empty();
      return all_quantities_ ? quantities_[a] < quantities_[b] : natural_less(texts_[a], texts_[b]);
    });
    return positions;
  }

 private:
  explicit SortKeys(JsonPathTemplate path) : path_{std::move(path)} {}
  JsonPathTemplate path_;
  std::vector<std::string> texts_;
  std::vector<Quantity> quantities_;
  bool all_quantities_ = true;
};

template <class T, class ObjectOf>
Result<void> sort_by(std::vector<T>& items, const std::string& path, ObjectOf object_of) {
  SHIPLOG_TRY(SortKeys keys, SortKeys::make(path));
  for (const T& item : items) {
    SHIPLOG_TRY(keys.add(object_of(item)));
  }
  std::vector<T> sorted;
  sorted.reserve(items.size());
  for (const size_t position : keys.order()) sorted.push_back(std::move(items[position]));
  items = std::move(sorted);
  return ok();
}

}  // namespace

void ClusterTable::learn(const Value& table) {
  for (const Value& column : table["columnDefinitions"].items()) {
    const std::string name = upper(printable(column["name"].as_string()));
    const auto known = std::ranges::find(columns_, name, &Column::name);
    if (known == columns_.end()) columns_.push_back({name, column["priority"].as_int() != 0});
  }
}

std::vector<std::string> ClusterTable::header() const {
  std::vector<std::string> names;
  if (form_.events) names.emplace_back("EVENT");
  if (form_.namespaces) names.emplace_back("NAMESPACE");
  bool first = true;
  for (const Column& column : columns_) {
    if (!shown(column)) continue;
    names.push_back(column.name);
    if (first) names.emplace_back("CLUSTER");
    first = false;
  }
  if (shows_adoption()) names.emplace_back("ADOPTION");
  for (const std::string& label : form_.label_columns) names.push_back(label_heading(label));
  if (form_.labels) names.emplace_back("LABELS");
  return names;
}

std::vector<ClusterTable::Row> ClusterTable::rows(const std::string& cluster, bool is_plane, const Value& table,
                                                  const Value& columns, const std::string& event) const {
  std::vector<size_t> place(columns_.size(), SIZE_MAX);  // where this server has each column
  for (size_t i = 0; i < columns.size(); ++i) {
    const std::string name = upper(printable(columns[i]["name"].as_string()));
    const auto known = std::ranges::find(columns_, name, &Column::name);
    if (known != columns_.end()) place[static_cast<size_t>(known - columns_.begin())] = i;
  }
  std::vector<Row> rows;
  for (const Value& row : table["rows"].items()) {
    const Value& object = row["object"];
    Row made{.cells = {}, .object = object};
    if (form_.events) made.cells.push_back(printable(event));
    if (form_.namespaces) made.cells.push_back(printable(object["metadata"]["namespace"].as_string(), kLongestCell));
    bool first = true;
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (!shown(columns_[i])) continue;
      std::string cell = place[i] == SIZE_MAX ? kNone : text_of(row["cells"][place[i]]);
      made.cells.push_back((first ? form_.name_prefix : "") + cell);
      if (first) made.cells.push_back(cluster);
      first = false;
    }
    const Value& labels = object["metadata"]["labels"];
    if (shows_adoption()) made.cells.emplace_back(is_plane ? "-" : labels[kManaged].as_string() == "true" ? "Y" : "N");
    for (const std::string& label : form_.label_columns) {
      made.cells.push_back(printable(labels[label].as_string(), kLongestCell));
    }
    if (form_.labels) made.cells.push_back(labels_of(object));
    rows.push_back(std::move(made));
  }
  return rows;
}

Value plain_table(const Value& list, const std::string& now_rfc3339) {
  const auto now = parse_rfc3339(now_rfc3339);
  Value rows = Value::array();
  for (const Value& item : list["items"].items()) {
    const std::string age = now ? since(item["metadata"]["creationTimestamp"], now.value()) : "";
    rows.push_back(Value::object({{"cells", Value::array({item["metadata"]["name"], age})}, {"object", item}}));
  }
  return Value::object({{"kind", "Table"},
                        {"metadata", list["metadata"]},
                        {"columnDefinitions", Value::array({Value::object({{"name", "Name"}, {"priority", 0}}),
                                                            Value::object({{"name", "Age"}, {"priority", 0}})})},
                        {"rows", std::move(rows)}});
}

Result<void> sort_rows(std::vector<ClusterTable::Row>& rows, const std::string& path) {
  return sort_by(rows, path, [](const ClusterTable::Row& row) { return row.object; });
}

Result<void> sort_objects(std::vector<Value>& objects, const std::string& path) {
  return sort_by(objects, path, [](const Value& object) { return object; });
}

}  // namespace shiplog::ctl
