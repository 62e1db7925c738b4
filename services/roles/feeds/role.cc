#include "services/roles/feeds/role.h"

namespace shiplog {
namespace {

const ObjectKey kFeeds{"control", "", "feeds"};

class FeedsRole final : public Role {
 public:
  explicit FeedsRole(feeds::FeedPublisher* publisher) : publisher_{publisher} {}

  std::string_view name() const override { return "feeds"; }
  void on_change(const State&, const Change&, std::vector<ObjectKey>&) override {}
  void on_start(const State&, std::vector<ObjectKey>& wake) override { wake.push_back(kFeeds); }
  void on_stop() override {
    if (publisher_ != nullptr) publisher_->lead(false);
  }
  void reconcile(TaskPtr task) override {
    if (publisher_ != nullptr) publisher_->lead(true);
    task->done();
  }

 private:
  feeds::FeedPublisher* publisher_;
};

}  // namespace

std::unique_ptr<Role> make_feeds_role(feeds::FeedPublisher* publisher) {
  return std::make_unique<FeedsRole>(publisher);
}

}  // namespace shiplog
