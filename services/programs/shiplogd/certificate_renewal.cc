#include "services/programs/shiplogd/certificate_renewal.h"

#include <algorithm>
#include <mutex>
#include <thread>
#include <utility>

#include "services/http/tls.h"
#include "services/runtime/log.h"

namespace shiplog {
namespace {

constexpr Millis kLookEvery{10'000};
constexpr Millis kTryAgainAfter{3'600'000};

/// When the first of them ends.
UtcMillis first_end(const std::vector<std::string>& certificates) {
  UtcMillis first{INT64_MAX};
  for (const std::string& pem : certificates) {
    if (const auto info = inspect_certificate(pem)) first = std::min(first, info.value().not_after);
  }
  return first;
}

}  // namespace

struct CertificateRenewal::Impl : std::enable_shared_from_this<Impl> {
  Executor& executor;
  Renew renew;
  std::mutex mutex;  // guards what follows
  bool stopped = false;
  bool under_way = false;
  UtcMillis ends;
  UtcMillis not_before{0};  // it is not tried again
  std::thread thread;

  Impl(Executor& on, Renew how, UtcMillis end) : executor{on}, renew{std::move(how)}, ends{end} {}

  void look_later() {
    executor.post_after(kLookEvery, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->look();
    });
  }

  void look() {
    const UtcMillis now = executor.now();
    const std::lock_guard lock{mutex};
    if (stopped) return;
    if (!under_way && needs_renewal(ends, now) && now >= not_before) {
      if (thread.joinable()) thread.join();  // that of the last time, which has ended
      under_way = true;
      // After a success, too: the authority may be at its end.
      not_before = now + kTryAgainAfter;
      thread = std::thread{[this] { run(); }};
    }
    look_later();
  }

  void run() {
    const auto renewed = renew();
    const std::lock_guard lock{mutex};
    if (renewed) {
      ends = first_end(renewed.value());
      log::info("certificates.renewed", {log::kv("not_after", rfc3339(ends))});
    } else {
      log::error("certificates.renewal_failed",
                 {log::kv("not_after", rfc3339(ends)), log::kv("reason", renewed.error().message)});
    }
    under_way = false;
  }
};

CertificateRenewal::CertificateRenewal(Executor& executor, const std::vector<std::string>& certificates, Renew renew)
    : impl_{std::make_shared<Impl>(executor, std::move(renew), first_end(certificates))} {
  impl_->look_later();
}

CertificateRenewal::~CertificateRenewal() {
  {
    const std::lock_guard lock{impl_->mutex};
    impl_->stopped = true;
  }
  if (impl_->thread.joinable()) impl_->thread.join();
}

bool CertificateRenewal::under_way() const {
  const std::lock_guard lock{impl_->mutex};
  return impl_->under_way;
}

}  // namespace shiplog
