// Vectors of floats, as wide as the processor's registers.

#pragma once

#include <cstdint>
#include <type_traits>

namespace {

// A tile has kTileRows by two vectors: as many sums as there are registers for.
#if defined(__AVX512F__)
constexpr int kLanes = 16, kTileRows = 8;
#elif defined(__AVX__)
constexpr int kLanes = 8, kTileRows = 6;
#elif defined(__aarch64__)
constexpr int kLanes = 4, kTileRows = 8;
#else
constexpr int kLanes = 4, kTileRows = 4;
#endif
// For one vector after another: enough sums that none waits for its last addition.
constexpr int kVectors = 4;

template <typename T, int lanes>
struct VectorOf {
  typedef T type __attribute__((vector_size(lanes * sizeof(T))));
  // In memory it may lie wherever a number may.
  typedef T stored __attribute__((vector_size(lanes * sizeof(T)), aligned(sizeof(T)), may_alias));
};

template <int lanes>
using Floats = typename VectorOf<float, lanes>::type;
template <int lanes>
using Bits = typename VectorOf<uint32_t, lanes>::type;
// The upper half of a float.
using BFloat16 = uint16_t;

template <int lanes, typename T>
Floats<lanes> load(const T* values) {
  const auto v = *reinterpret_cast<const typename VectorOf<T, lanes>::stored*>(values);
  if constexpr (std::is_same_v<T, float>)
    return v;
  else
    return (Floats<lanes>)(__builtin_convertvector(v, Bits<lanes>) << 16);
}

template <int lanes, typename T>
void store(T* values, Floats<lanes> v) {
  auto& to = *reinterpret_cast<typename VectorOf<T, lanes>::stored*>(values);
  if constexpr (std::is_same_v<T, float>) {
    to = v;
  } else {  // to the nearest, of two to the even one; what is no number stays so
    const Bits<lanes> bits = (Bits<lanes>)v, nearest = bits + 0x7fff + (bits >> 16 & 1);
    const Bits<lanes> all = v == v ? nearest : bits | 0x400000;
    to = __builtin_convertvector(all >> 16, typename VectorOf<T, lanes>::type);
  }
}

// Calls `body(lanes, channel)` for vectors of channels, at the end for single channels.
template <typename Body>
inline void for_each_vector(int64_t c, int64_t end, Body body) {
  for (; c + kLanes <= end; c += kLanes) body(std::integral_constant<int, kLanes>(), c);
  for (; c < end; ++c) body(std::integral_constant<int, 1>(), c);
}

}  // namespace
