#pragma once

#include <algorithm>
#include <cstdint>
#include <new>
#include <type_traits>
#include <vector>

#include "vectors.h"

namespace {

// Room for numbers, at the beginning of a cache line; what is in it is unknown.
struct Room {
  explicit Room(int64_t size) : data(new (kLine) float[size]) {}
  ~Room() { operator delete[](data, kLine); }
  static constexpr std::align_val_t kLine{64};
  float* const data;
};

// Some numbers of an array as floats: where they lie, or else a copy, always in the same room.
template <typename T>
struct Wide {
  const float* data;
  int64_t begin;
  std::vector<float> room;

  void read(const T* values, int64_t from, int64_t end) {
    begin = from;
    if constexpr (std::is_same_v<T, float>) {
      data = values + from;
    } else {
      room.resize(std::max<int64_t>(room.size(), end - from));
      over_channels(0, end - from, [&](auto lanes, int64_t k) {
        store<lanes>(&room[k], load<lanes>(values + from + k));
      });
      data = room.data();
    }
  }
  const float* at(int64_t k) const { return data + (k - begin); }
};

}  // namespace
