// Requests to responses: every route of the monitor.
#pragma once
#include <optional>

#include "observe/monitor/gate.h"

namespace msvm::observe {

/// Limits that the server holds before routing, and handle() again.
inline constexpr size_t kMaxHeader = 16 << 10, kMaxTarget = 2048, kMaxBody = 1 << 20;

/// What can be refused before the body is read; `request` has none yet.
std::optional<Response> refuse(const Request& request, const Site& site);

/// Any request. Thread-safe; never fails: what is wrong is a response.
Response handle(const Request& request, const Site& site);

/// Whether the answer may take long: such requests don't belong on the thread that serves others.
bool is_slow(const Request& request);

/// `state` with the caller's role as its first member.
std::string with_role(std::string_view state, Role role);

}  // namespace msvm::observe
