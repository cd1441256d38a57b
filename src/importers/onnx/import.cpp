#include "importers/onnx/import.h"

#include <filesystem>

#include "importers/onnx/importer.h"
#include "msvm/base/file.h"

namespace msvm {
namespace {

Diagnostic bad_file(std::string message) {
  Diagnostic d{.code = DiagCode::kBadFile};
  d.message = std::move(message);
  return d;
}

void describe(const onnx::Model& model, Module& module) {
  module.producer = "msvm import-onnx";
  for (const auto& [key, value] : model.metadata) module.metadata[std::string(key)] = std::string(value);
  auto note = [&](const char* key, std::string_view value) {
    if (!value.empty()) module.metadata[std::string("onnx.") + key] = std::string(value);
  };
  note("producer", model.producer_name);
  note("producer_version", model.producer_version);
  note("domain", model.domain);
  note("ir_version", std::to_string(model.ir_version));
  for (const onnx::OpsetImport& o : model.opsets)
    if (o.domain.empty()) note("opset", std::to_string(o.version));
}

}  // namespace

OnnxImportResult import_onnx(std::span<const std::byte> bytes, std::shared_ptr<const void> keep_alive, const OnnxImportOptions& options) {
  OnnxImportResult result;
  auto model = onnx::read_model(bytes);
  if (!model.ok()) {
    result.errors.push_back(bad_file(model.status().message()));
    return result;
  }
  ModuleBuilder mb(std::string(model->graph->name));
  describe(*model, mb.module());
  onnx::TensorReader reader(std::move(keep_alive), options.directory, options.copy_weights);
  {
    onnx::GraphImporter importer(*model, reader, mb);
    importer.run();
    result.errors = std::move(importer.errors);
  }
  if (result.errors.empty()) result.module = mb.take();
  return result;
}

Result<Module> import_onnx_file(const std::string& path) {
  MSVM_ASSIGN_OR_RETURN(MappedFile file, MappedFile::open(path));
  auto owner = std::make_shared<MappedFile>(std::move(file));
  OnnxImportOptions options;
  options.directory = std::filesystem::path(path).parent_path().string();
  if (options.directory.empty()) options.directory = ".";
  OnnxImportResult result = import_onnx(owner->data(), owner, options);
  if (!result.errors.empty()) {
    bool broken = result.errors[0].code == DiagCode::kBadFile;
    return Status(broken ? StatusCode::kMalformedFile : StatusCode::kUnsupported, "'" + path + "' can't be imported:\n" + format_diagnostics(result.errors));
  }
  return std::move(result.module);
}

}  // namespace msvm
