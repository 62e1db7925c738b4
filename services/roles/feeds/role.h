#pragma once

#include <memory>

#include "services/feeds/publisher.h"
#include "services/runtime/role.h"

namespace shiplog {

/// Role "feeds": publishes accepted events to topics, so that programs outside the fleet can follow it.
///
/// - Owns: nothing in the state; the topics of feeds.
/// - Trigger: the start of a leader. The publisher follows the journal by itself, on its own thread.
/// - Failures: brokers that cannot be reached, and topics that are refused; retried, and counted.
/// nullptr: nothing is published here.
std::unique_ptr<Role> make_feeds_role(feeds::FeedPublisher* publisher);

}  // namespace shiplog
