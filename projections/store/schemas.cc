#include "projections/store/schemas.h"

#include "events/base/hash.h"
#include "events/fold/fold.h"

namespace shiplog::store {

std::string fingerprint() {
  std::string all = "fold version " + std::to_string(kFoldVersion);
  for (const char* schema : schemas()) {
    all += '\n';
    all += schema;
  }
  return to_string(siphash128(all));
}

}  // namespace shiplog::store
