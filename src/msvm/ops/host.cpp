// What the host sees while a program runs.
#include "msvm/ops/families.h"
#include "msvm/ops/infer.h"
#include "msvm/ops/print_format.h"

namespace msvm {
namespace {

Status infer_print(InferContext& c) {
  auto pieces = parse_print_format(c.attrs().get_string("format", ""), c.num_inputs() + c.args().size());
  return pieces.ok() ? Status() : pieces.status();
}

}  // namespace

void add_host_ops(OpTable& table) {
  table.add({.name = "msvm.Print",
             .inputs = {{"values", kAny, 0, true}},
             .variadic = true,
             .max_args = 64,
             .args_doc = "sizes to print, counted after the values",
             .outputs = {},
             .min_outputs = 0,
             .any_rank = true,
             .deterministic = false,
             .attrs = {required({.name = "format", .type = AttrType::kString, .doc = "text with operands by number, as Python formats it: \"loss {0:.3f}\\n\""})},
             .infer = infer_print,
             .doc = "Text to the host, in the order of the program; never removed, repeated or moved past another effect."});
}

}  // namespace msvm
