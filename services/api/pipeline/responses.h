#pragma once

#include <string>
#include <vector>

#include "services/api/request_context.h"

// How the answer to a request is rendered and sent.
namespace shiplog::api {

/// One line each, for Warning headers.
using Warnings = std::vector<std::string>;

/// The value of a header Warning with this text.
std::string warning_header(std::string_view warning);
/// As kube-apiserver sends them: each once, no empty ones; of more than 4096 bytes, the first 256 bytes of each and
/// then as many as fit.
std::vector<std::string> sent_warnings(const Warnings& warnings);

/// `retry_after_seconds`: of the header Retry-After; 0: none.
void send(const RequestContext& context, int status, const std::string& content_type, std::string body,
          const Warnings& warnings = {}, int64_t retry_after_seconds = 0);
/// The object in the form that the client accepts (Table, PartialObjectMetadata, YAML). `now`: for ages in Tables.
void answer_object(const RequestContext& context, int status, const Value& object, UtcMillis now,
                   const Warnings& warnings = {});
/// An object that is JSON already, if the client accepts nothing else.
void answer_json(const RequestContext& context, int status, const std::string& json, const Warnings& warnings);
/// Whether answer_json() may answer with an object of the request's kind as it is stored.
bool accepts_stored_json(const RequestContext& context);
void answer_list(const RequestContext& context, std::vector<Value> items, Value list_metadata, UtcMillis now,
                 const Warnings& warnings = {});
/// A metav1.Status.
void answer_status(const RequestContext& context, int http_status, const Value& status, const Warnings& warnings = {});
/// The error as a metav1.Status about `subject`; without one, about the object that the path names.
void fail(const RequestContext& context, const Error& error, const StatusDetails& subject);
void fail(const RequestContext& context, const Error& error);
/// The same without Retry-After, of an error that another server causes: kubectl would repeat the request for ten
/// seconds before it shows the cause.
void fail_once(const RequestContext& context, const Error& error, const StatusDetails& subject = {});

}  // namespace shiplog::api
