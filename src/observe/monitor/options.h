// What a monitor is started with, and what of that the environment says.
#pragma once
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "msvm/base/status.h"

namespace msvm::observe {

struct MonitorOptions {
  std::string address = "127.0.0.1";       // "127.0.0.1", "::1", "0.0.0.0", "localhost"
  uint16_t port = 9464;                    // 0: any that is free
  std::string admin_token, read_token;     // empty: none
  std::string certificate, key;            // PEM files; empty: no TLS
  std::vector<std::string> hosts;          // names that Host may hold, beside addresses and localhost
  size_t max_connections = 64;
  std::chrono::milliseconds request_time{10'000};  // a request, from the first wait for it to its last byte
  std::chrono::milliseconds write_time{10'000};    // a response or an event
  std::chrono::milliseconds tick{1'000};           // between events
};

struct Endpoint {
  std::string address;
  uint16_t port = 0;
};
/// "127.0.0.1:9464", "[::1]:9464", "localhost:0", "127.0.0.1" (port 9464), "9464" (on 127.0.0.1).
/// `whose`: who listens there, for the error; `port`: where none is given.
Result<Endpoint> parse_endpoint(std::string_view text, std::string_view whose = "monitor", uint16_t port = 9464);

/// Whether only this machine reaches the address.
bool is_loopback(const std::string& address);

/// A token from a file of this user that nobody else may read; line ends at its end don't count.
Result<std::string> read_token_file(const std::string& path);

/// Tokens, TLS files and names of hosts: MSVM_MONITOR_TOKEN, MSVM_MONITOR_READ_TOKEN (or …_TOKEN_FILE), MSVM_MONITOR_CERTIFICATE,
/// MSVM_MONITOR_KEY, MSVM_MONITOR_HOSTS (names between commas). What `options` has already stays.
Status fill_from_environment(MonitorOptions& options);

/// Refuses what isn't safe or can't work; the message names the mend.
Status check_options(const MonitorOptions& options);

}  // namespace msvm::observe
