// Numbers of the `.msbc` format, shared by reader and writer. docs/format.md explains them.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

namespace msvm::format {

constexpr std::array<uint8_t, 8> kMagic = {0x89, 'M', 'S', 'B', 'C', 0x0d, 0x0a, 0x1a};
constexpr size_t kHeaderBytes = 24;        // magic, major, minor, flags, number of sections, zero
constexpr size_t kSectionEntryBytes = 24;  // kind, flags, offset, size
constexpr uint32_t kMaxSections = 64;
constexpr uint32_t kSectionOptional = 1;  // a reader that doesn't know it skips it
constexpr uint32_t kIgnorableFlags = 0xffff0000;

enum class Section : uint32_t {
  kMeta = 1,
  kStrings = 2,
  kSymbols = 3,
  kDims = 4,
  kTypes = 5,
  kConstants = 6,
  kFunctions = 7,
  kCode = 8,
  kDebug = 9,  // optional
  kData = 10,
};
constexpr uint32_t kLastSection = 10;

enum SymbolFlags : uint8_t { kSymbolRegister = 1, kSymbolMin = 2, kSymbolMax = 4, kSymbolDivisor = 8 };

enum class DimTag : uint8_t { kConst, kSymbol, kSum, kFloorDiv, kCeilDiv, kMod, kMin, kMax, kBroadcast };
constexpr uint8_t kLastDimTag = 8;

enum TypeFlags : uint8_t { kTypeUnknownRank = 1, kTypeStrided = 2, kTypeFilled = 4 };

enum class AttrTag : uint8_t { kInt, kFloat, kString, kDType, kInts, kFloats, kStrings };
constexpr uint8_t kLastAttrTag = 6;

enum class Storage : uint8_t { kInline, kStrings, kExternal };

constexpr uint8_t kParamDonated = 1;

}  // namespace msvm::format
