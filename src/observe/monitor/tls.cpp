#include "observe/monitor/tls.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <exception>

namespace msvm::observe {
namespace {

namespace ssl = boost::asio::ssl;

/// The oldest error of OpenSSL's queue, which is emptied.
std::string reason() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  if (ERR_SYSTEM_ERROR(code)) return ERR_reason_error_string(code) ? ERR_reason_error_string(code) : "it can't be read";
  const char* text = ERR_reason_error_string(code);
  return text ? text : "OpenSSL doesn't say why";
}

/// A key that wants a passphrase must not make a server ask on the terminal.
int no_passphrase(char*, int, int, void*) { return 0; }

Result<std::unique_ptr<ssl::context>> make(ssl::context::method method) {
  try {
    auto context = std::make_unique<ssl::context>(method);
    SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
    return context;
  } catch (const std::exception& e) {
    return internal_error(fmt::format("monitor: TLS: {}", e.what()));
  }
}

}  // namespace

Result<std::unique_ptr<ssl::context>> server_context(const std::string& certificate, const std::string& key) {
  MSVM_ASSIGN_OR_RETURN(auto context, make(ssl::context::tls_server));
  SSL_CTX* c = context->native_handle();
  ERR_clear_error();
  SSL_CTX_set_options(c, SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_default_passwd_cb(c, no_passphrase);
  if (SSL_CTX_use_certificate_chain_file(c, certificate.c_str()) != 1)
    return invalid_argument(fmt::format("monitor: certificate {}: {}: expected a PEM file with the certificate, then those that signed it", certificate, reason()));
  if (SSL_CTX_use_PrivateKey_file(c, key.c_str(), SSL_FILETYPE_PEM) != 1) {
    const int what = ERR_GET_REASON(ERR_peek_error());
    const std::string why = reason();
    if (what == X509_R_KEY_VALUES_MISMATCH || what == X509_R_KEY_TYPE_MISMATCH) return invalid_argument(fmt::format("monitor: key {} isn't that of certificate {}: {}", key, certificate, why));
    return invalid_argument(fmt::format("monitor: key {}: {}: expected the PEM file of that certificate's private key, without a passphrase", key, why));
  }
  return context;
}

Result<std::unique_ptr<ssl::context>> client_context(const std::string& certificate) {
  MSVM_ASSIGN_OR_RETURN(auto context, make(ssl::context::tls_client));
  SSL_CTX* c = context->native_handle();
  ERR_clear_error();
  SSL_CTX_set_verify(c, SSL_VERIFY_PEER, nullptr);
  if (certificate.empty()) {
    SSL_CTX_set_default_verify_paths(c);
    return context;
  }
  X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(c), X509_V_FLAG_PARTIAL_CHAIN);
  if (SSL_CTX_load_verify_locations(c, certificate.c_str(), nullptr) != 1) return invalid_argument(fmt::format("certificate {}: {}", certificate, reason()));
  return context;
}

}  // namespace msvm::observe
