#pragma once

#include <optional>
#include <string>

#include "events/base/result.h"
#include "projections/store/reader.h"

namespace shiplog::api {

/// Objects of one page, and bytes of their JSON.
inline constexpr size_t kExportPageObjects = 2'000;
inline constexpr size_t kExportPageBytes = size_t{8} << 20U;

/// One page of all objects as of a revision (nullopt: the newest), in the form in which they are stored, also those
/// that no client can list; Secrets stay sealed. JSON: {kind: "StateExport", revision, newest, time, foldVersion,
/// objectsHash, items: [{type, namespace, name, object}], continue}. `objectsHash` is there for the newest revision.
/// `after`: what the page before gave as `continue`, with its revision; empty: the first page. Every page reads the
/// revision anew, so a slow client holds nothing. Errors: kBadRequest; kGone, history no longer holds the revision.
Result<std::string> export_page(const View& view, std::optional<Revision> at, const std::string& after);

}  // namespace shiplog::api
