// Texts whose large constants were left out when they were written: `data(elided)`.
#pragma once
#include "msvm/bytecode/text.h"

namespace msvm {

/// As assemble(). A constant written `data(elided)` is the one of `constants` at the same place in its list if name and type are the same,
/// else the only one with this name and type. The bytes are shared with `constants`, not copied.
AssembleResult assemble_elided(std::string_view text, const Module& constants, const std::string& file_name = "", const std::string& directory = "");

}  // namespace msvm
