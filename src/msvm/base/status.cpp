#include "msvm/base/status.h"

namespace msvm {

const char* status_code_name(StatusCode code) {
  switch (code) {
    case StatusCode::kOk: return "ok";
    case StatusCode::kInvalidArgument: return "invalid argument";
    case StatusCode::kMalformedFile: return "malformed file";
    case StatusCode::kVerification: return "verification failed";
    case StatusCode::kUnsupported: return "unsupported";
    case StatusCode::kShapeMismatch: return "shape mismatch";
    case StatusCode::kOutOfRange: return "out of range";
    case StatusCode::kOverflow: return "size overflow";
    case StatusCode::kResourceLimit: return "resource limit";
    case StatusCode::kCancelled: return "cancelled";
    case StatusCode::kNotFound: return "not found";
    case StatusCode::kIo: return "input/output error";
    case StatusCode::kInternal: return "internal error";
  }
  return "unknown";
}

const std::string& Status::message() const {
  static const std::string kEmpty;
  return rep_ ? rep_->message : kEmpty;
}

Status Status::with_context(const std::string& prefix) const {
  return ok() ? *this : Status(code(), prefix + message());
}

}  // namespace msvm
