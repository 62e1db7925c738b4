#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "events/base/value.h"
#include "services/cel/cel_type.h"

namespace shiplog::cel {

class CelMeter;
class CelValue;

/// A point in time, 0001-01-01T00:00:00Z to 9999-12-31T23:59:59.999999999Z.
struct CelTimestamp {
  int64_t seconds = 0;  ///< since 1970-01-01T00:00:00Z
  int32_t nanos = 0;    ///< 0 to 999999999
  auto operator<=>(const CelTimestamp&) const = default;
};

struct CelDuration {
  int64_t nanos = 0;
  auto operator<=>(const CelDuration&) const = default;
};

/// A list: of values, or of JSON whose items become values when they are read.
class CelList {
 public:
  virtual ~CelList() = default;
  virtual size_t size() const = 0;
  /// `index` is below size().
  virtual CelValue at(size_t index) const = 0;
  /// Levels of values within each other, this one included. JSON is one level: its reader bounds its depth.
  virtual size_t depth() const { return 1; }
  /// Equality of lists whose order does not matter; nullopt: compare item by item.
  virtual std::optional<bool> equals(const CelList& other, CelMeter& meter) const;
  /// `this + other`, or an error, where that is not plain concatenation (sets and maps of Kubernetes); else nullopt.
  virtual std::optional<CelValue> plus(const CelList& other, CelMeter& meter) const;
};

/// A map, or an object with fields.
class CelMap {
 public:
  virtual ~CelMap() = default;
  virtual size_t size() const = 0;
  /// nullopt: no such key. Keys are bool, int, uint or string; whole numbers of other types find the equal int.
  virtual std::optional<CelValue> find(const CelValue& key) const = 0;
  /// In a fixed order, that of comprehensions.
  virtual std::vector<CelValue> keys() const = 0;
  /// `name` is as an expression has it, so escaped if the map is an object of a schema.
  virtual std::optional<CelValue> field(std::string_view name) const;
  /// As of CelList.
  virtual size_t depth() const { return 1; }
  /// Equality of maps that have more than keys() tells; nullopt: compare the values of keys(). Both have one size.
  virtual std::optional<bool> equals(const CelMap& other, CelMeter& meter) const;
};

/// A value of a library's type. Immutable.
class CelExtension {
 public:
  virtual ~CelExtension() = default;
  /// That of its CelType::extension().
  virtual const std::string& type_name() const = 0;
  /// `other` has the same type_name().
  virtual bool equals(const CelExtension& other) const = 0;
  /// Bytes of the texts that it holds.
  virtual size_t text_size() const { return 0; }
};

/// A value of the Common Expression Language, or the error that its computation ended in. Small; copies share content.
class CelValue {
 public:
  enum class Kind : uint8_t {
    kNull,
    kBool,
    kInt,
    kUint,
    kDouble,
    kString,
    kBytes,
    kList,
    kMap,
    kTimestamp,
    kDuration,
    kType,
    kOptional,
    kExtension,
    kError,
  };

  CelValue() = default;  ///< null
  static CelValue null() { return {}; }
  static CelValue boolean(bool value) { return {Kind::kBool, value}; }
  static CelValue integer(int64_t value) { return {Kind::kInt, value}; }
  static CelValue unsigned_integer(uint64_t value) { return {Kind::kUint, value}; }
  static CelValue real(double value) { return {Kind::kDouble, value}; }
  /// Well-formed UTF-8.
  static CelValue string(std::string_view text) { return {Kind::kString, Value{text}}; }
  /// A JSON string, shared with it.
  static CelValue string(const Value& text) { return {Kind::kString, text}; }
  static CelValue string(const std::string& text) { return string(std::string_view{text}); }
  static CelValue string(const char* text) { return string(std::string_view{text}); }
  static CelValue bytes(std::string_view bytes) { return {Kind::kBytes, Value{bytes}}; }
  static CelValue list(std::shared_ptr<const CelList> list) { return {Kind::kList, std::move(list)}; }
  // Of these three, the result is an error if it nests values too deeply: recursion over values must end.
  static CelValue list(std::vector<CelValue> items);
  static CelValue map(std::shared_ptr<const CelMap> map) { return {Kind::kMap, std::move(map)}; }
  /// Of equal keys the first one is found.
  static CelValue map(std::vector<std::pair<CelValue, CelValue>> entries);
  static CelValue timestamp(CelTimestamp value) { return {Kind::kTimestamp, value}; }
  static CelValue duration(CelDuration value) { return {Kind::kDuration, value}; }
  static CelValue type(CelType value) { return {Kind::kType, std::move(value)}; }
  static CelValue none();
  static CelValue some(CelValue value);
  static CelValue extension(std::shared_ptr<const CelExtension> value) { return {Kind::kExtension, std::move(value)}; }
  /// `message` as upstream words it, e.g. "division by zero".
  static CelValue error(std::string message);
  /// An operator or function that is not defined for its arguments' types.
  static CelValue no_such_overload() { return error("no such overload"); }

  Kind kind() const { return kind_; }
  bool is(Kind kind) const { return kind_ == kind; }
  bool is_error() const { return kind_ == Kind::kError; }

  // The caller has looked at kind().
  bool as_bool() const { return std::get<bool>(data_); }
  int64_t as_int() const { return std::get<int64_t>(data_); }
  uint64_t as_uint() const { return std::get<uint64_t>(data_); }
  double as_double() const { return std::get<double>(data_); }
  /// The text of a string, or bytes. Valid as long as this value.
  std::string_view as_string() const { return std::get<Value>(data_).as_string(); }
  const CelList& as_list() const { return *std::get<std::shared_ptr<const CelList>>(data_); }
  const std::shared_ptr<const CelList>& shared_list() const { return std::get<std::shared_ptr<const CelList>>(data_); }
  const std::shared_ptr<const CelMap>& shared_map() const { return std::get<std::shared_ptr<const CelMap>>(data_); }
  const CelMap& as_map() const { return *std::get<std::shared_ptr<const CelMap>>(data_); }
  CelTimestamp as_timestamp() const { return std::get<CelTimestamp>(data_); }
  CelDuration as_duration() const { return std::get<CelDuration>(data_); }
  const CelType& as_type() const { return std::get<CelType>(data_); }
  /// nullptr: none.
  const CelValue* as_optional() const { return std::get<std::shared_ptr<const CelValue>>(data_).get(); }
  const std::shared_ptr<const CelExtension>& as_extension() const {
    return std::get<std::shared_ptr<const CelExtension>>(data_);
  }
  /// The extension as a library's class; nullptr if it is another one.
  template <class Class>
  const Class* as() const {
    return is(Kind::kExtension) ? dynamic_cast<const Class*>(as_extension().get()) : nullptr;
  }
  const std::string& error_message() const { return *std::get<std::shared_ptr<const std::string>>(data_); }

  /// What type() answers.
  CelType type_of() const;

 private:
  using Data =
      std::variant<std::monostate, bool, int64_t, uint64_t, double, Value, std::shared_ptr<const CelList>,
                   std::shared_ptr<const CelMap>, CelTimestamp, CelDuration, CelType, std::shared_ptr<const CelValue>,
                   std::shared_ptr<const CelExtension>, std::shared_ptr<const std::string>>;
  template <class T>
  CelValue(Kind kind, T value) : kind_{kind}, data_{std::move(value)} {}

  Kind kind_ = Kind::kNull;
  Data data_;
};

/// `==`: numbers of different types compare by value, other types that differ are unequal. Errors are never compared.
/// What is compared in lists and maps is charged to `meter`; once it is exceeded, the answer is false.
bool equal(const CelValue& a, const CelValue& b, CelMeter& meter);
/// `<`: -1, 0 or 1; nullopt: these types have no order, or one is NaN.
std::optional<int> compare(const CelValue& a, const CelValue& b);
/// What costs are computed from: code points of a string, bytes, items of a list or map; 1 for all else.
uint64_t cost_size(const CelValue& value);
/// The bytes of a string, of bytes or of a library's value; 0 for all else.
size_t text_size(const CelValue& value);
/// The number of code points of well-formed UTF-8.
size_t code_points(std::string_view text);

}  // namespace shiplog::cel
