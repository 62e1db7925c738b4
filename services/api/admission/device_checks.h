#pragma once

#include <string>

#include "events/base/value.h"
#include "services/api/admission/causes.h"
#include "services/api/admission/rules.h"

// What the kinds of resource.k8s.io share.

namespace shiplog::api {

/// False: there are so many that they are not looked at.
bool check_list_size(const Value& list, const std::string& field, size_t most, Causes& causes);

void check_device_label(const Value& name, const std::string& field, Causes& causes);  ///< RFC 1123
void check_pool_name(const Value& name, const std::string& field, Causes& causes);

/// The name of an attribute or a capacity: "memory", "driver.example.com/memory". `with_domain`: the second form.
void check_device_property(const Value& name, const std::string& field, bool with_domain, Causes& causes);

/// A RawExtension: an object of at most 10 KiB.
void check_device_data(const Value& data, const std::string& field, Causes& causes);

/// What a device waits for before a pod is bound to its node.
void check_binding_conditions(const Value& device, const std::string& field, Causes& causes);

// ResourceSlices.
void fill_resource_slice(Value& object, const Write& write);
void check_resource_slice(const Value& object, const Write& write, Causes& causes);
void warn_of_resource_slice(const Value& object, const Write& write, std::vector<std::string>& warnings);

}  // namespace shiplog::api
