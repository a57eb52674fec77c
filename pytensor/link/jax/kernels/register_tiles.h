// Products of matrices: a tile of the result stays in registers while the factors are read.

#pragma once

#include <cstdint>

#include "vectors.h"

namespace {

// About how many positions are summed up in a tile before the next tile is taken: what all tiles
// read should stay in the nearest caches meanwhile.
constexpr int64_t kPositionsPerBlock = 160;

// What a tile sums over: rows of products of an item of `a` and one of `b`.
struct Reduction {
  int64_t rows, length;
  // In floats.
  int64_t a_row_stride, a_stride, b_row_stride, b_stride;
};

// kStore: items of `a` have a stride, and the sums are stored.  kAccumulate: they are adjacent, and
// the sums are added to the result.  kElementwise: each is multiplied with one item of `b`, and
// added.
enum TileMode { kStore, kAccumulate, kElementwise };

// Sums up a[i] * b[:] into out[i, :], or a[:] * b[:] into out[:].
template <int rows, int vectors, int lanes, TileMode mode, typename T>
inline void multiply_tile(const float* a, int64_t item_stride, const float* b, T* out,
                          int64_t out_row_stride, const Reduction& reduction) {
  const int64_t a_item = mode == kStore ? item_stride : 1;
  // From zero: sums of sums lose less than one long sum.
  Floats<lanes> sums[rows][vectors] = {};
  for (int64_t p = 0; p < reduction.rows; ++p) {
    const float* x = a + p * reduction.a_row_stride;
    const float* y = b + p * reduction.b_row_stride;
    for (int64_t q = 0; q < reduction.length; ++q) {
      Floats<lanes> terms[vectors];
      for (int j = 0; j < vectors; ++j) terms[j] = load<lanes>(y + j * lanes);
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < vectors; ++j)
          if constexpr (mode == kElementwise)
            sums[i][j] += load<lanes>(x + j * lanes) * terms[j];
          else
            sums[i][j] += x[i * a_item] * terms[j];
      x += reduction.a_stride;
      y += reduction.b_stride;
    }
  }
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < vectors; ++j) {
      T* const to = out + i * out_row_stride + j * lanes;
      store<lanes>(to, mode == kStore ? sums[i][j] : load<lanes>(to) + sums[i][j]);
    }
}

// The same for `columns` items of `b` (or of both), in vectors, at the end in shorter ones.
template <int rows, TileMode mode, int lanes = kLanes, typename T>
void multiply_columns(const float* a, int64_t item_stride, const float* b, T* out,
                      int64_t out_row_stride, int64_t columns, const Reduction& reduction) {
  constexpr int most = lanes < kLanes ? 1 : mode == kElementwise ? kVectors : 2;
  const auto at = [=](int64_t k) { return mode == kElementwise ? a + k : a; };
  int64_t k = 0;
  for (; k + most * lanes <= columns; k += most * lanes)
    multiply_tile<rows, most, lanes, mode>(at(k), item_stride, b + k, out + k, out_row_stride,
                                           reduction);
  for (; k + lanes <= columns; k += lanes)
    multiply_tile<rows, 1, lanes, mode>(at(k), item_stride, b + k, out + k, out_row_stride,
                                        reduction);
  if constexpr (lanes > 1)
    multiply_columns<rows, mode, lanes / 2>(at(k), item_stride, b + k, out + k, out_row_stride,
                                            columns - k, reduction);
}

// The same for up to `rows` items of `a`.
template <TileMode mode, int rows = kTileRows, typename T>
void multiply_rows(int64_t count, const float* a, int64_t item_stride, const float* b, T* out,
                   int64_t out_row_stride, int64_t columns, const Reduction& reduction) {
  if constexpr (rows > 1)
    if (count < rows)
      return multiply_rows<mode, rows - 1>(count, a, item_stride, b, out, out_row_stride, columns,
                                           reduction);
  multiply_columns<rows, mode>(a, item_stride, b, out, out_row_stride, columns, reduction);
}

}  // namespace
