// Asking a monitor: what the commands that attach to a running process use.
#pragma once
#include <chrono>
#include <string>

#include "msvm/base/status.h"

namespace msvm::observe {

struct ClientOptions {
  std::string url;          // "http://127.0.0.1:9464", "https://..."; without a scheme http
  std::string token;        // empty: none
  std::string certificate;  // PEM: what the monitor must show; empty: what the system trusts
  std::chrono::milliseconds timeout{10'000};  // of one request
  size_t max_bytes = 64 << 20;
};

/// The body of GET `target`. Anything but 200 is an error with the monitor's own words.
Result<std::string> http_get(const ClientOptions& options, const std::string& target);
/// The body of the response to POST `target` with a JSON body.
Result<std::string> http_post(const ClientOptions& options, const std::string& target, const std::string& json);

}  // namespace msvm::observe
