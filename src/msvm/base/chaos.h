// The `chaos` build makes rare paths common: code after one run, two entries a region, entries that go at any moment, plans forgotten.
#pragma once

namespace msvm {

#ifdef MSVM_CHAOS
inline constexpr bool kChaos = true;
#else
inline constexpr bool kChaos = false;
#endif

}  // namespace msvm
