#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace shiplog::cel {

struct CelObjectType;

/// A declared type of the Common Expression Language. Copies share their content.
class CelType {
 public:
  enum class Kind : uint8_t {
    kDyn,        ///< not known before the evaluation
    kError,      ///< of an expression that has an error
    kParameter,  ///< of a generic overload: a type that is found from the arguments, e.g. "T"
    kNull,
    kBool,
    kInt,
    kUint,
    kDouble,
    kString,
    kBytes,
    kList,  ///< of parameters()[0]
    kMap,   ///< from parameters()[0] to parameters()[1]
    kTimestamp,
    kDuration,
    kType,       ///< of parameters()[0]
    kOptional,   ///< of parameters()[0]
    kExtension,  ///< a type of a library, told apart by name()
    kObject,     ///< fields with names: object()
  };

  CelType() : CelType(Kind::kDyn) {}
  /// A type without parameters: `CelType{CelType::Kind::kInt}`.
  CelType(Kind kind);  // NOLINT(google-explicit-constructor): kinds read as types in tables of overloads
  // A parameter that is very deep or large is dyn instead: an expression of a few hundred bytes could make a type with
  // more parts than there is time to look at.
  static CelType list(CelType item);
  static CelType map(CelType key, CelType value);
  static CelType optional(CelType value);
  static CelType type_of(CelType type);
  static CelType parameter(std::string name);
  /// `name` as upstream has it: "kubernetes.Quantity", "kubernetes.URL", "net.IP", "net.CIDR", "kubernetes.Semver".
  static CelType extension(std::string name);
  static CelType object(std::shared_ptr<const CelObjectType> object);

  Kind kind() const { return node_->kind; }
  /// Of extensions and parameters; else "".
  const std::string& name() const { return node_->name; }
  const std::vector<CelType>& parameters() const { return node_->parameters; }
  /// nullptr unless kObject.
  const CelObjectType* object() const { return node_->object.get(); }
  bool is(Kind kind) const { return node_->kind == kind; }
  bool is_dyn() const { return kind() == Kind::kDyn || kind() == Kind::kError; }

  /// As compile errors name it: "int", "list(string)", "map(string, dyn)", "timestamp", "net.IP". Long ones are cut.
  std::string text() const;
  bool operator==(const CelType& other) const;

 private:
  struct Node {
    Kind kind = Kind::kDyn;
    std::string name;
    std::vector<CelType> parameters;
    std::shared_ptr<const CelObjectType> object;
    size_t depth = 1;  ///< levels of parameters, itself included
    size_t parts = 1;  ///< types in it, itself included, each as often as it occurs
  };
  static CelType with_parameters(Kind kind, std::vector<CelType> parameters);
  std::string whole_text() const;
  explicit CelType(std::shared_ptr<const Node> node) : node_{std::move(node)} {}
  std::shared_ptr<const Node> node_;
};

/// How the values of a type lie in JSON, where the type alone does not tell it.
enum class CelEncoding : uint8_t {
  kPlain,
  kListSet,  ///< a list whose order does not matter
  kListMap,  ///< a list of objects told apart by CelField::list_keys; their order does not matter
  kIntOrString,
};

/// A field of an object, or what the items of a list or the values of a map are.
struct CelField {
  CelType type;
  CelEncoding encoding = CelEncoding::kPlain;
  std::vector<std::string> list_keys = {};
  /// Of a list or map: its items or values.
  std::shared_ptr<const CelField> item = nullptr;
};

/// A type with named fields: of a schema, or of the variables of admission expressions.
struct CelObjectType {
  std::string name;  ///< as compile errors name it, e.g. "object" or "selfType123.spec"
  std::map<std::string, CelField, std::less<>> fields;  ///< by the JSON name
  /// Expressions have the escaped names only (field_names.h), as of every object of a schema. Else also the JSON names:
  /// "request.namespace".
  bool escapes_names = false;
  bool open = false;  ///< it has fields of any other name, too, of type dyn
};

}  // namespace shiplog::cel
