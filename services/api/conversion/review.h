#pragma once

#include <string>
#include <vector>

#include "events/base/result.h"
#include "events/base/value.h"

namespace shiplog::api {

/// The version of ConversionReview that the webhook is sent: the first of its conversionReviewVersions that is known
/// here. "": none is. `conversion`: Kind::conversion.
std::string conversion_review_version(const Value& conversion);

/// The ConversionReview that asks for these objects in another version. `version`: see above; `uid`: of the question.
Value conversion_review(const std::string& version, const std::vector<Value>& objects,
                        const std::string& desired_api_version, const std::string& uid);

/// The objects that the webhook answered with, one for each of `originals`. Their metadata is that of the originals but
/// for labels and annotations; of these, those of the control plane are the originals' too. Error: kInternal, it is no
/// answer to the question, or changes what it must not; in kube-apiserver's words.
Result<std::vector<Value>> converted_objects(const std::string& version, const std::vector<Value>& originals,
                                             const std::string& desired_api_version, const Value& answer,
                                             const std::string& uid);

/// "conversion webhook for example.com/v1, Kind=Shirt failed: WHY"; `object`: the one to be converted.
Error conversion_failed(const Value& object, const std::string& why);

}  // namespace shiplog::api
