// Convolutions by 3 x 3 filters with 4 products for 9 (Winograd; Lavin and Gray 2016, F(2x2, 3x3)):
// tiles of 4 x 4 positions and the filters are transformed to 16 values each; products of matrices
// of these, transformed back, are tiles of 2 x 2 results.  What isn't finite spreads over the tile.

#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "buffers.h"
#include "ceil_div.h"
#include "convolution_shape.h"
#include "register_tiles.h"
#include "vectors.h"

namespace {

// The tiles of images.
struct WinogradTiles : ConvShape {
  static constexpr int64_t kTileSide = 4, kTransformSize = kTileSide * kTileSide;

  // Whether this takes less time than all products: with many channels, and more than 24 tiles.
  static bool are_faster_for(const ConvShape& p) {
    const auto plain = [](const Axis& a) { return a.taps == 3 && a.stride * a.dilation == 1; };
    return plain(p.y) && plain(p.x) && std::min(p.channels, p.channels_out) >= 32 &&
           p.batch * p.y.cotangent * p.x.cotangent >= 100;
  }

  int64_t rows_of_tiles() const { return ceil_div(y.cotangent, 2); }
  int64_t columns_of_tiles() const { return ceil_div(x.cotangent, 2); }
  int64_t tiles() const { return batch * rows_of_tiles() * columns_of_tiles(); }
  // So many tiles that `values` transformed ones of each stay in the second cache.
  int64_t tiles_per_block(int64_t values) const {
    const int64_t fit = (1 << 16) / values / (channels + channels_out);
    return std::max<int64_t>(1, fit / kTileRows) * kTileRows;
  }
  static int64_t padded(int64_t size) { return size + 16; }  // a power of two is bad for caches

  template <typename T>
  struct Tile {
    const T* image[kTransformSize];
    int64_t result;             // index of its first result
    bool has_below, has_right;  // results
  };

  // `count` tiles, from the one of number `from` on; positions beside the image are `zeros`.
  template <typename T>
  std::vector<Tile<T>> gather_tiles(const T* images, int64_t from, int64_t count,
                                    const T* zeros) const {
    std::vector<Tile<T>> all(count);
    for (Tile<T>& tile : all) {
      const int64_t line = from / columns_of_tiles(), n = line / rows_of_tiles();
      const int64_t p = line % rows_of_tiles() * 2, q = from++ % columns_of_tiles() * 2;
      for (int64_t k = 0; k < kTransformSize; ++k) {
        const int64_t row = p + k / kTileSide - y.pad, column = q + k % kTileSide - x.pad;
        const bool inside = row >= 0 && row < y.image && column >= 0 && column < x.image;
        tile.image[k] = inside ? images + image_index(n, row, column) * channels : zeros;
      }
      tile.result = cotangent_index(n, p, q);
      tile.has_below = p + 1 < y.cotangent, tile.has_right = q + 1 < x.cotangent;
    }
    return all;
  }

  // Transforms rows of a matrix of vectors, then its columns; `put` returns nullptr for no result.
  template <int lanes, int from, int to, typename Get, typename Transform, typename Put>
  static void transform_axes(Get get, Transform transform, Put put) {
    Floats<lanes> by_rows[from][to], values[from], results[to];
    for (int i = 0; i < from; ++i) {
      for (int j = 0; j < from; ++j) values[j] = load<lanes>(get(i, j));
      transform(values, by_rows[i]);
    }
    for (int j = 0; j < to; ++j) {
      for (int i = 0; i < from; ++i) values[i] = by_rows[i][j];
      transform(values, results);
      for (int i = 0; i < to; ++i)
        if (auto* const at = put(i, j)) store<lanes>(at, results[i]);
    }
  }

  // A row of a transformed tile.
  template <int lanes, typename T>
  static void input_transform_row(int64_t row, const Tile<T>& tile, int64_t c, float* transformed,
                                  int64_t step) {
    constexpr int kOne[] = {0, 1, 2, 1}, kOther[] = {2, 2, 1, 3};
    const float sign = row == 1 ? 1.0f : -1.0f;
    Floats<lanes> sums[kTileSide];
    for (int j = 0; j < kTileSide; ++j)
      sums[j] = load<lanes>(tile.image[kTileSide * kOne[row] + j] + c) +
                sign * load<lanes>(tile.image[kTileSide * kOther[row] + j] + c);
    store<lanes>(transformed + c, sums[0] - sums[2]);
    store<lanes>(transformed + step + c, sums[1] + sums[2]);
    store<lanes>(transformed + 2 * step + c, sums[2] - sums[1]);
    store<lanes>(transformed + 3 * step + c, sums[1] - sums[3]);
  }
};

template <typename T>
struct WinogradConvolution : WinogradTiles {
  const T* image;
  const float* filters;  // transformed
  T* out;

  int64_t size() const { return ceil_div(tiles(), kTileRows); }

  static void filter_transform(const float* filters, float* transformed, int64_t size) {
    for_each_vector(0, size, [=](auto lanes, int64_t at) {
      transform_axes<lanes, 3, kTileSide>(
          [&](int r, int s) { return filters + (3 * r + s) * size + at; },
          [](const auto* v, auto* out) {
            const auto ends = 0.5f * (v[0] + v[2]), middle = 0.5f * v[1];
            out[0] = v[0], out[1] = ends + middle, out[2] = ends - middle, out[3] = v[2];
          },
          [&](int i, int j) { return transformed + (kTileSide * i + j) * padded(size) + at; });
    });
  }

  void operator()(int64_t begin, int64_t end) const {
    const int64_t block = tiles_per_block(kTransformSize);
    const int64_t last = std::min(end * kTileRows, tiles());
    const int64_t step = padded(block * channels), out_step = padded(block * channels_out);
    AlignedBuffer transformed(kTransformSize * step), products(kTransformSize * out_step);
    const std::vector<T> zeros(channels);
    for (int64_t from = begin * kTileRows; from < last; from += block) {
      const auto tiles = gather_tiles(image, from, std::min(block, last - from), zeros.data());
      const int64_t count = tiles.size();
      for (int64_t k = 0; k < count; ++k)
        for_each_vector(0, channels, [&](auto lanes, int64_t c) {
          for (int64_t row = 0; row < kTileSide; ++row)
            input_transform_row<lanes>(
                row, tiles[k], c, transformed.data + row * kTileSide * step + k * channels, step);
        });
      for (int64_t value = 0; value < kTransformSize; ++value)
        for (int64_t k = 0; k < count; k += kTileRows)
          multiply_rows<kStore>(std::min<int64_t>(kTileRows, count - k),
                                transformed.data + value * step + k * channels, channels,
                                filters + value * padded(tap_size()),
                                products.data + value * out_step + k * channels_out, channels_out,
                                channels_out, {1, channels, 0, 1, 0, channels_out});
      for (int64_t k = 0; k < count; ++k)
        output_transform(tiles[k], products.data + k * channels_out, out_step);
    }
  }

  void output_transform(const Tile<T>& tile, const float* transformed, int64_t step) const {
    for_each_vector(0, channels_out, [&](auto lanes, int64_t c) {
      transform_axes<lanes, kTileSide, 2>(
          [&](int i, int j) { return transformed + (kTileSide * i + j) * step + c; },
          [](const auto* v, auto* to) { to[0] = v[0] + v[1] + v[2], to[1] = v[1] - v[2] - v[3]; },
          [&](int i, int j) {
            const bool exists = (tile.has_below || !i) && (tile.has_right || !j);
            return exists ? out + (tile.result + i * x.cotangent + j) * channels_out + c : nullptr;
          });
    });
  }
};

// The gradient of the transformed filters; a thread has some of its rows, or some channels.
template <typename T>
struct WinogradFilterGradient : WinogradTiles {
  const T *image, *cotangent;
  float* out;

  int64_t blocks() const { return ceil_div(channels, kTileRows); }
  int64_t size() const { return kTileSide * blocks(); }

  void operator()(int64_t begin, int64_t end) const {
    const int64_t block = tiles_per_block(kTileSide), step = padded(block * channels);
    const int64_t out_step = padded(block * channels_out);
    AlignedBuffer a(kTileSide * step), b(kTileSide * out_step);
    const std::vector<T> zeros(std::max(channels, channels_out));
    for (int64_t from = 0; from < tiles(); from += block) {
      const int64_t count = std::min(block, tiles() - from);
      const auto tiles = gather_tiles(image, from, count, zeros.data());
      for (int64_t row = begin / blocks(); row * blocks() < end; ++row) {
        const int64_t low = std::max<int64_t>(0, begin - row * blocks()) * kTileRows;
        const int64_t high = std::min(channels, (end - row * blocks()) * kTileRows);
        for (int64_t k = 0; k < count; ++k) {
          for_each_vector(low, high, [&](auto lanes, int64_t c) {
            input_transform_row<lanes>(row, tiles[k], c, a.data + k * channels, step);
          });
          cotangent_transform_row(row, tiles[k], zeros.data(), b.data + k * channels_out, out_step);
        }
        for (int64_t j = 0; j < kTileSide; ++j) {
          float* const to = out + (row * kTileSide + j) * tap_size();
          if (from == 0) std::fill(to + low * channels_out, to + high * channels_out, 0.0f);
          for (int64_t c = low; c < high; c += kTileRows)
            multiply_rows<kAccumulate>(std::min<int64_t>(kTileRows, high - c),
                                       a.data + j * step + c, 0, b.data + j * out_step,
                                       to + c * channels_out, channels_out, channels_out,
                                       {1, count, 0, channels, 0, channels_out});
        }
      }
    }
  }

  void cotangent_transform_row(int64_t row, const Tile<T>& tile, const T* zeros, float* transformed,
                               int64_t step) const {
    const T* const g = cotangent + tile.result * channels_out;
    const T* const below = tile.has_below ? g + x.cotangent * channels_out : zeros;
    const T* const right[] = {tile.has_right ? g + channels_out : zeros,
                              tile.has_below && tile.has_right ? below + channels_out : zeros};
    const float upper = row < 3, lower = row == 0 ? 0.0f : row == 1 ? 1.0f : -1.0f;
    for_each_vector(0, channels_out, [&](auto lanes, int64_t k) {
      const auto a = upper * load<lanes>(g + k) + lower * load<lanes>(below + k);
      const auto b = upper * load<lanes>(right[0] + k) + lower * load<lanes>(right[1] + k);
      store<lanes>(transformed + k, a);
      store<lanes>(transformed + step + k, a + b);
      store<lanes>(transformed + 2 * step + k, a - b);
      store<lanes>(transformed + 3 * step + k, -b);
    });
  }

  static void inverse_transform(const float* transformed, float* filters, int64_t size) {
    for_each_vector(0, size, [=](auto lanes, int64_t at) {
      transform_axes<lanes, kTileSide, 3>(
          [&](int i, int j) { return transformed + (kTileSide * i + j) * size + at; },
          [](const auto* v, auto* out) {
            const auto both = 0.5f * (v[1] + v[2]);
            out[0] = v[0] + both, out[1] = 0.5f * (v[1] - v[2]), out[2] = both + v[3];
          },
          [&](int r, int s) { return filters + (3 * r + s) * size + at; });
    });
  }
};

}  // namespace
