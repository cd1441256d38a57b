// One entry's code and what it was made from, as somebody wants to read it.
#pragma once
#include <memory>
#include <string>

#include "msvm/jit/image.h"
#include "msvm/jit/lower.h"

namespace msvm::jit {

/// Of one moment: the entry may be retired meanwhile, its code stays as long as this. The pointers are into the program, which must
/// outlive it.
struct EntryCode {
  std::string name, alias, box;               // as in JitEntryView
  std::string region_name;                    // "@main instructions 3 to 141"
  int tier = 1;
  bool shared = false;                        // the code is another entry's, too
  std::shared_ptr<const NativeImage> image;   // null: no kernels
  std::string program;                        // text of the loop program that the image was made from
  const FunctionView* view = nullptr;
  const Region* region = nullptr;
  const LoweredRegion* lowered = nullptr;     // groups[i] runs kernel i
};

}  // namespace msvm::jit
