// The bytes of constants: memory for them, their size, their digest.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "msvm/bytecode/module.h"

namespace msvm {

constexpr size_t kConstantAlignment = 64;

/// Uninitialised memory, aligned as constants are.
std::shared_ptr<std::byte> allocate_constant_bytes(size_t size);

/// Bytes of a constant of this type; none if it isn't a dense row-major tensor of constant sizes on CPU(0), or the size
/// leaves 64 bits. Of strings: the number of elements.
std::optional<uint64_t> constant_size(const TensorType& type);

/// XXH64 with seed 0.
uint64_t data_digest(std::span<const std::byte> bytes);
/// The digest it carries, else computed. Of strings: over lengths (u64, little-endian) and bytes in turn.
uint64_t constant_digest(const Constant& c);

}  // namespace msvm
