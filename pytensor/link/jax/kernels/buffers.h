#pragma once

#include <algorithm>
#include <cstdint>
#include <new>
#include <type_traits>
#include <vector>

#include "vectors.h"

namespace {

// Floats that begin at a cache line, and aren't initialized.
struct AlignedBuffer {
  explicit AlignedBuffer(int64_t size) : data(new (kLine) float[size]) {}
  ~AlignedBuffer() { operator delete[](data, kLine); }
  static constexpr std::align_val_t kLine{64};
  float* const data;
};

// Part of an array as floats: of float32 a pointer, else a copy, in memory that is used again.
template <typename T>
struct FloatView {
  const float* data;
  int64_t begin;
  std::vector<float> copy;

  void read(const T* values, int64_t from, int64_t end) {
    begin = from;
    if constexpr (std::is_same_v<T, float>) {
      data = values + from;
    } else {
      copy.resize(std::max<int64_t>(copy.size(), end - from));
      for_each_vector(0, end - from, [&](auto lanes, int64_t k) {
        store<lanes>(&copy[k], load<lanes>(values + from + k));
      });
      data = copy.data();
    }
  }
  const float* at(int64_t k) const { return data + (k - begin); }
};

}  // namespace
