// Status and Result<T>: how every fallible function of the core reports. No exception crosses a room.
#pragma once
#include <cassert>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace msvm {

/// What kind of failure it is; decides exit codes and Python exception types.
enum class StatusCode : uint8_t {
  kOk = 0,
  kInvalidArgument,   // the caller's input (names, ranks, dtypes, sizes)
  kMalformedFile,     // a file that can't be read as what it claims to be
  kVerification,      // a module that breaks a rule of the bytecode
  kUnsupported,       // an operator, attribute or version that isn't there
  kShapeMismatch,     // a run-time check on sizes failed
  kOutOfRange,        // an index or value outside what its operator permits
  kOverflow,          // arithmetic on sizes left 64 bits
  kResourceLimit,     // bytes, instructions or time of the session
  kCancelled,
  kNotFound,
  kIo,
  kInternal,
};

const char* status_code_name(StatusCode code);

/// Success, or a code with a message. One pointer wide; success allocates nothing.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string message)
      : rep_(code == StatusCode::kOk ? nullptr : std::make_shared<Rep>(Rep{code, std::move(message)})) {}

  static Status ok_status() { return {}; }
  bool ok() const { return !rep_; }
  StatusCode code() const { return rep_ ? rep_->code : StatusCode::kOk; }
  const std::string& message() const;
  /// The same failure with `prefix` put before its message: adds the place while it travels up.
  Status with_context(const std::string& prefix) const;

 private:
  struct Rep {
    StatusCode code;
    std::string message;
  };
  std::shared_ptr<const Rep> rep_;
};

inline Status invalid_argument(std::string m) { return {StatusCode::kInvalidArgument, std::move(m)}; }
inline Status unsupported(std::string m) { return {StatusCode::kUnsupported, std::move(m)}; }
inline Status malformed(std::string m) { return {StatusCode::kMalformedFile, std::move(m)}; }
inline Status shape_mismatch(std::string m) { return {StatusCode::kShapeMismatch, std::move(m)}; }
inline Status out_of_range(std::string m) { return {StatusCode::kOutOfRange, std::move(m)}; }
inline Status overflow_error(std::string m) { return {StatusCode::kOverflow, std::move(m)}; }
inline Status resource_limit(std::string m) { return {StatusCode::kResourceLimit, std::move(m)}; }
inline Status internal_error(std::string m) { return {StatusCode::kInternal, std::move(m)}; }

/// A value or the Status that says why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}                                      // NOLINT(google-explicit-constructor)
  Result(Status status) : status_(std::move(status)) { assert(!status_.ok()); }      // NOLINT(google-explicit-constructor)

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }
  T& value() & { assert(ok()); return *value_; }
  const T& value() const& { assert(ok()); return *value_; }
  T&& value() && { assert(ok()); return std::move(*value_); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace msvm

#define MSVM_CONCAT_INNER(a, b) a##b
#define MSVM_CONCAT(a, b) MSVM_CONCAT_INNER(a, b)
/// Returns the failed Status of `expr` from the enclosing function.
#define MSVM_RETURN_IF_ERROR(expr)                       \
  do {                                                   \
    if (::msvm::Status msvm_status_ = (expr); !msvm_status_.ok()) return msvm_status_; \
  } while (0)
/// MSVM_ASSIGN_OR_RETURN(auto x, f()): unwraps a Result or returns its Status.
#define MSVM_ASSIGN_OR_RETURN(lhs, expr) MSVM_ASSIGN_OR_RETURN_IMPL(MSVM_CONCAT(msvm_result_, __COUNTER__), lhs, expr)
#define MSVM_ASSIGN_OR_RETURN_IMPL(tmp, lhs, expr) \
  auto tmp = (expr);                               \
  if (!tmp.ok()) return tmp.status();              \
  lhs = std::move(tmp).value()
