// The compiled part of the package: thin bindings.
#include "builder.h"
#include "custom.h"
#include "engines.h"
#include "executable.h"
#include "run.h"

NB_MODULE(_core, m) {
  using namespace msvm::python;
  m.attr("__version__") = "0.1.0";
  bind_dtypes(m);
  bind_executable(m);
  bind_engines(m);
  bind_builder(m);
  bind_run(m);
  bind_custom(m);
}
