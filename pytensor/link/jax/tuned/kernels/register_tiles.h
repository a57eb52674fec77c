// Sums of products, of which a tile stays in registers while the factors go by.

#pragma once

#include <cstdint>

#include "vectors.h"

namespace {

// About how many positions go by before a tile's sums are put into memory, for the next tile: what
// all tiles read should stay in the nearest caches meanwhile.
constexpr int64_t kPositions = 160;

// Two series of values, in rows: what one tile multiplies and sums up.
struct Series {
  int64_t rows, length;
  // How far apart values are, in floats: `a` and `b` are the factors.
  int64_t a_row, a_step, b_row, b_step;
};

// Items of `a` are apart, and the sums are stored; or they lie side by side, and the sums are added
// to what is there; or they are multiplied with one item of `b` each, and added.
enum Kind { kApart, kAdjacent, kPairs };

// out[i, :] is, or gets, the sum over the series of a[i] * b[:], or out[:] that of a[:] * b[:].
template <int rows, int vectors, int lanes, Kind kind, typename T>
inline void sum_products(const float* a, int64_t apart, const float* b, T* out, int64_t out_row,
                         const Series& series) {
  const int64_t item = kind == kApart ? apart : 1;
  // From zero: sums of sums lose less than one long sum.
  Floats<lanes> sums[rows][vectors] = {};
  for (int64_t p = 0; p < series.rows; ++p) {
    const float* x = a + p * series.a_row;
    const float* y = b + p * series.b_row;
    for (int64_t q = 0; q < series.length; ++q) {
      Floats<lanes> terms[vectors];
      for (int j = 0; j < vectors; ++j) terms[j] = load<lanes>(y + j * lanes);
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < vectors; ++j)
          if constexpr (kind == kPairs) sums[i][j] += load<lanes>(x + j * lanes) * terms[j];
          else sums[i][j] += x[i * item] * terms[j];
      x += series.a_step;
      y += series.b_step;
    }
  }
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < vectors; ++j) {
      T* const to = out + i * out_row + j * lanes;
      store<lanes>(to, kind == kApart ? sums[i][j] : load<lanes>(to) + sums[i][j]);
    }
}

// The same for `columns` items of `b`, or pairs, in vectors, in the end in shorter ones.
template <int rows, Kind kind, int lanes = kLanes, typename T>
void sum_columns(const float* a, int64_t apart, const float* b, T* out, int64_t out_row,
                 int64_t columns, const Series& series) {
  constexpr int most = lanes < kLanes ? 1 : kind == kPairs ? kVectors : 2;
  const auto at = [=](int64_t k) { return kind == kPairs ? a + k : a; };
  int64_t k = 0;
  for (; k + most * lanes <= columns; k += most * lanes)
    sum_products<rows, most, lanes, kind>(at(k), apart, b + k, out + k, out_row, series);
  for (; k + lanes <= columns; k += lanes)
    sum_products<rows, 1, lanes, kind>(at(k), apart, b + k, out + k, out_row, series);
  if constexpr (lanes > 1)
    sum_columns<rows, kind, lanes / 2>(at(k), apart, b + k, out + k, out_row, columns - k, series);
}

// The same for up to `rows` items of `a`.
template <Kind kind, int rows = kTileRows, typename T>
void sum_tiles(int64_t count, const float* a, int64_t apart, const float* b, T* out,
               int64_t out_row, int64_t columns, const Series& series) {
  if constexpr (rows > 1)
    if (count < rows)
      return sum_tiles<kind, rows - 1>(count, a, apart, b, out, out_row, columns, series);
  sum_columns<rows, kind>(a, apart, b, out, out_row, columns, series);
}

}  // namespace
