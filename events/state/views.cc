#include "events/state/views.h"

namespace shiplog {
namespace {

template <DerivedView View>
void update_view(View& view, const ObjectStore& objects, const ObjectKey& key, const Value& before,
                 const Value& after) {
  if (!View::wants(key.type)) return;
  if constexpr (LocalView<View>) {
    view.update(key, before, after);
  } else {
    view.update(key, before, after, objects);
  }
}

}  // namespace

void update_views(Views& views, const ObjectStore& objects, const ObjectKey& key, const Value& before,
                  const Value& after) {
  std::apply([&](auto&... view) { (update_view(view, objects, key, before, after), ...); }, views);
}

}  // namespace shiplog
