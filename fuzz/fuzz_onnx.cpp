// Any bytes as an ONNX model: an error or a module, never a crash; what it makes can be verified and written.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "importers/onnx/import.h"
#include "msvm/bytecode/file.h"
#include "msvm/verify/verify.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  msvm::OnnxImportResult result = msvm::import_onnx(bytes, nullptr);
  if (!result.errors.empty()) return 0;
  auto written = msvm::write_module(result.module);
  (void)msvm::verify(std::move(result.module));
  return 0;
}
