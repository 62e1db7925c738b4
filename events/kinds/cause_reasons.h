#pragma once

namespace shiplog {

/// Reasons of a FieldCause, as apimachinery's causes of an invalid object name them.
inline constexpr const char* kInvalid = "FieldValueInvalid";
inline constexpr const char* kRequired = "FieldValueRequired";
inline constexpr const char* kNotSupported = "FieldValueNotSupported";
inline constexpr const char* kForbidden = "FieldValueForbidden";

}  // namespace shiplog
