// What a request must hold before it reaches a route: it meant this monitor, no foreign page made it, its caller is known.
#pragma once
#include <optional>

#include "observe/monitor/access.h"
#include "observe/monitor/request.h"
#include "observe/snapshot/source.h"

namespace msvm::observe {

/// What handling a request needs beside it. All must outlive the call.
struct Site {
  Source& source;
  Access& access;
  std::vector<std::string> hosts;  // names in lower case that Host may hold, beside addresses and localhost
  bool tls = false;
  uint16_t port = 0;
};

/// A page elsewhere whose name was made to lead here (DNS rebinding) has its own name in Host: addresses can't be rebound.
bool host_allowed(std::string_view host, const Site& site);

/// The refusal, or nothing: Host, then what browsers say of where the request comes from.
std::optional<Response> check_origin(const Request& request, const Target& target, const Site& site);

/// Who calls; `login`: it came as ?token= and becomes a cookie.
struct Caller {
  Role role = Role::kNone;
  bool login = false;
};
Caller identify(const Request& request, const Target& target, const Site& site);

std::string cookie_name(const Site& site);

}  // namespace msvm::observe
