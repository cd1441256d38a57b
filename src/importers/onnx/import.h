// ONNX model -> Module.
#pragma once
#include <memory>
#include <span>
#include <string>

#include "msvm/base/diagnostic.h"
#include "msvm/base/status.h"
#include "msvm/bytecode/module.h"

namespace msvm {

struct OnnxImportOptions {
  std::string directory;                       // of the model: external data can't leave it
  bool copy_weights = false;                   // else constants point into the file's bytes
};

struct OnnxImportResult {
  Module module;
  Diagnostics errors;  // every unsupported operator and attribute of the model; empty = success
};

/// `bytes` are mapped or owned by `keep_alive`. Never trusts them.
OnnxImportResult import_onnx(std::span<const std::byte> bytes, std::shared_ptr<const void> keep_alive, const OnnxImportOptions& options = {});
Result<Module> import_onnx_file(const std::string& path);

}  // namespace msvm
