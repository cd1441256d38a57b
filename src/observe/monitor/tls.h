// TLS: the server's context from files, and what a client trusts.
#pragma once
#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <string>

#include "msvm/base/status.h"

namespace msvm::observe {

/// TLS 1.2 or newer. The error names the file and what is wrong with it.
Result<std::unique_ptr<boost::asio::ssl::context>> server_context(const std::string& certificate, const std::string& key);

/// `certificate`: exactly that one is trusted, whatever name it is for; empty: those that the system trusts.
Result<std::unique_ptr<boost::asio::ssl::context>> client_context(const std::string& certificate);

}  // namespace msvm::observe
