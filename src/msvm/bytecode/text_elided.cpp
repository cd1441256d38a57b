#include "msvm/bytecode/text_elided.h"

#include "msvm/bytecode/text_parse.h"

namespace msvm {
namespace {

/// Sizes of constants are numbers, so types compare across contexts by what they print.
bool same_type(const Module& a, const TensorType& x, const Module& b, const TensorType& y) { return to_string(x, *a.dims) == to_string(y, *b.dims); }

}  // namespace

const Constant* Assembler::elided(const Constant& c) const {
  if (!elided_ || !elided_->dims) return nullptr;
  const auto& all = elided_->constants;
  auto fits = [&](const Constant& o) { return o.name == c.name && o.strings.empty() && same_type(module_, c.type, *elided_, o.type); };
  if (const size_t here = module_.constants.size(); here < all.size() && fits(all[here])) return &all[here];
  const Constant* found = nullptr;
  for (const Constant& o : all)
    if (fits(o)) {
      if (found) return nullptr;
      found = &o;
    }
  return found;
}

AssembleResult assemble_elided(std::string_view text, const Module& constants, const std::string& file_name, const std::string& directory) {
  return Assembler(text, file_name, directory, &constants).run();
}

}  // namespace msvm
