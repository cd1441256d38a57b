// Models, their inputs and figures, for benches that take models on the command line.
#pragma once
#include <fmt/core.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "msvm/engine/engine.h"

namespace msvm::bench {

[[noreturn]] void stop(const Status& s);
template <class T>
T must(Result<T> r) {
  if (!r.ok()) stop(r.status());
  return std::move(*r);
}

/// A file as given, or of the folder of the models that tests and benches share (`python -m corpus` puts them there).
std::string find_model(const std::string& name);

/// "resnet50.onnx@x=1x3x224x224;x=2x3x224x224": a model, and the steps with which it is fed: one per `;`, inputs separated by `,`.
/// "NAME=LOW:HIGH" among them bounds the numbers of an input.
struct ModelCase {
  std::string path, name;
  std::vector<std::string> steps;  // as text
  std::vector<std::vector<Value>> feeds;
  std::shared_ptr<const VerifiedModule> module;
};
ModelCase load_case(const std::string& spec, Engine& engine, int opt_level = 1);
std::shared_ptr<const VerifiedModule> load_module(const std::string& path, int opt_level);
/// One step of a case: "x=1x3x224x224".
std::vector<Value> feed(const Function& f, const std::string& step, Engine& engine);

double seconds_now();
double percentile(std::vector<double> v, double p);
inline double median(std::vector<double> v) { return percentile(std::move(v), 0.5); }
/// "12.3 us"
std::string time_text(double seconds);

/// On the terminal only: how far a measurement is.
class Progress {
 public:
  void show(size_t done, size_t all, const std::string& what);
  ~Progress() { clear(); }
  void clear();

 private:
  bool shown_ = false;
  double last_ = 0;
};

}  // namespace msvm::bench
