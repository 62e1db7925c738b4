#pragma once

#include <string>

#include "services/api/pipeline/server.h"
#include "services/api/pipeline/write_request.h"

// How kube-apiserver reports a patch whose result cannot be decoded as an object of its kind.
namespace shiplog::api {

/// A patch and what it has made of the current object.
struct PatchAndResult {
  bool strategic = false;
  Value patch;
  Value result;
};

/// Unlike a body that cannot be decoded, such a patch is invalid: with the cause "patch", and without the name of the
/// object, as the patch may have changed it. Other rejections are returned as they are.
Rejection undecodable_patch(const RequestContext& context, const PatchAndResult& patch, Rejection rejection);

/// A value as Go's %+v writes it: map[labels:map[a:b] names:[x y]].
std::string go_text(const Value& value);

}  // namespace shiplog::api
