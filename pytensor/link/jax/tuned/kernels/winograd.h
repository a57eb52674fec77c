// Convolutions by 3 x 3 filters with 4 products for 9 (Winograd; Lavin and Gray 2016, F(2x2, 3x3)):
// a square of 4 x 4 positions and the filters are taken apart into 16 terms each, of which products
// of matrices make those of 2 x 2 results.  What isn't finite spreads over the square.

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

struct Squares : Problem {
  static constexpr int64_t kSide = 4, kTerms = kSide * kSide;

  // Whether this is faster than all products: with many channels, and more than 24 squares.
  static bool suit(const Problem& p) {
    const auto plain = [](const Axis& a) { return a.taps == 3 && a.stride * a.dilation == 1; };
    return plain(p.y) && plain(p.x) && std::min(p.channels, p.channels_out) >= 32 &&
           p.batch * p.y.cotangent * p.x.cotangent >= 100;
  }

  int64_t down() const { return ceil_div(y.cotangent, 2); }
  int64_t across() const { return ceil_div(x.cotangent, 2); }
  int64_t squares() const { return batch * down() * across(); }
  // So many squares at a time that some terms of theirs stay in the second cache.
  int64_t at_once(int64_t terms) const {
    const int64_t fit = (1 << 16) / terms / (channels + channels_out);
    return std::max<int64_t>(1, fit / kTileRows) * kTileRows;
  }
  static int64_t apart(int64_t numbers) { return numbers + 16; }  // no power of two, for caches

  template <typename T>
  struct Square {
    const T* image[kTerms];
    int64_t at;          // where its first result is
    bool below, beside;  // whether there are such results
  };

  // Some squares; positions beside the image are `zeros`.
  template <typename T>
  std::vector<Square<T>> lay(const T* images, int64_t from, int64_t count, const T* zeros) const {
    std::vector<Square<T>> all(count);
    for (Square<T>& square : all) {
      const int64_t line = from / across(), n = line / down();
      const int64_t p = line % down() * 2, q = from++ % across() * 2;
      for (int64_t k = 0; k < kTerms; ++k) {
        const int64_t row = p + k / kSide - y.pad, column = q + k % kSide - x.pad;
        const bool inside = row >= 0 && row < y.image && column >= 0 && column < x.image;
        square.image[k] = inside ? images + image_at(n, row, column) * channels : zeros;
      }
      square.at = cotangent_at(n, p, q);
      square.below = p + 1 < y.cotangent, square.beside = q + 1 < x.cotangent;
    }
    return all;
  }

  // Turns rows of a square of vectors, then columns of that; `put` says nullptr for one unwanted.
  template <int lanes, int from, int to, typename Get, typename Turn, typename Put>
  static void turn_axes(Get get, Turn turn, Put put) {
    Floats<lanes> half[from][to], values[from], made[to];
    for (int i = 0; i < from; ++i) {
      for (int j = 0; j < from; ++j) values[j] = load<lanes>(get(i, j));
      turn(values, half[i]);
    }
    for (int j = 0; j < to; ++j) {
      for (int i = 0; i < from; ++i) values[i] = half[i][j];
      turn(values, made);
      for (int i = 0; i < to; ++i)
        if (auto* const at = put(i, j)) store<lanes>(at, made[i]);
    }
  }

  // A row of the terms of a square's image.
  template <int lanes, typename T>
  static void image_terms(int64_t row, const Square<T>& square, int64_t c, float* terms,
                          int64_t step) {
    constexpr int kOne[] = {0, 1, 2, 1}, kOther[] = {2, 2, 1, 3};
    const float sign = row == 1 ? 1.0f : -1.0f;
    Floats<lanes> sums[kSide];
    for (int j = 0; j < kSide; ++j)
      sums[j] = load<lanes>(square.image[kSide * kOne[row] + j] + c) +
                sign * load<lanes>(square.image[kSide * kOther[row] + j] + c);
    store<lanes>(terms + c, sums[0] - sums[2]);
    store<lanes>(terms + step + c, sums[1] + sums[2]);
    store<lanes>(terms + 2 * step + c, sums[2] - sums[1]);
    store<lanes>(terms + 3 * step + c, sums[1] - sums[3]);
  }
};

template <typename T>
struct Winograd : Squares {
  const T* image;
  const float* filters;  // their terms
  T* out;

  int64_t size() const { return ceil_div(squares(), kTileRows); }

  static void take_filters_apart(const float* filters, float* terms, int64_t size) {
    over_channels(0, size, [=](auto lanes, int64_t at) {
      turn_axes<lanes, 3, kSide>(
          [&](int r, int s) { return filters + (3 * r + s) * size + at; },
          [](const auto* v, auto* out) {
            const auto ends = 0.5f * (v[0] + v[2]), middle = 0.5f * v[1];
            out[0] = v[0], out[1] = ends + middle, out[2] = ends - middle, out[3] = v[2];
          },
          [&](int i, int j) { return terms + (kSide * i + j) * apart(size) + at; });
    });
  }

  void operator()(int64_t begin, int64_t end) const {
    const int64_t most = at_once(kTerms), last = std::min(end * kTileRows, squares());
    const int64_t step = apart(most * channels), next = apart(most * channels_out);
    Room terms(kTerms * step), made(kTerms * next);
    const std::vector<T> zeros(channels);
    for (int64_t from = begin * kTileRows; from < last; from += most) {
      const auto squares = lay(image, from, std::min(most, last - from), zeros.data());
      const int64_t count = squares.size();
      for (int64_t k = 0; k < count; ++k)
        over_channels(0, channels, [&](auto lanes, int64_t c) {
          for (int64_t row = 0; row < kSide; ++row)
            image_terms<lanes>(row, squares[k], c,
                               terms.data + row * kSide * step + k * channels, step);
        });
      for (int64_t term = 0; term < kTerms; ++term)
        for (int64_t k = 0; k < count; k += kTileRows)
          sum_tiles<kApart>(std::min<int64_t>(kTileRows, count - k),
                           terms.data + term * step + k * channels, channels,
                           filters + term * apart(matrix()),
                           made.data + term * next + k * channels_out, channels_out, channels_out,
                           {1, channels, 0, 1, 0, channels_out});
      for (int64_t k = 0; k < count; ++k)
        put_together(squares[k], made.data + k * channels_out, next);
    }
  }

  void put_together(const Square<T>& square, const float* terms, int64_t step) const {
    over_channels(0, channels_out, [&](auto lanes, int64_t c) {
      turn_axes<lanes, kSide, 2>(
          [&](int i, int j) { return terms + (kSide * i + j) * step + c; },
          [](const auto* v, auto* to) { to[0] = v[0] + v[1] + v[2], to[1] = v[1] - v[2] - v[3]; },
          [&](int i, int j) {
            const bool there = (square.below || !i) && (square.beside || !j);
            return there ? out + (square.at + i * x.cotangent + j) * channels_out + c : nullptr;
          });
    });
  }
};

// The gradient of the filters' terms; a thread has some rows of these, or some channels.
template <typename T>
struct WinogradGradFilters : Squares {
  const T *image, *cotangent;
  float* out;

  int64_t blocks() const { return ceil_div(channels, kTileRows); }
  int64_t size() const { return kSide * blocks(); }

  void operator()(int64_t begin, int64_t end) const {
    const int64_t most = at_once(kSide), step = apart(most * channels);
    const int64_t next = apart(most * channels_out);
    Room a(kSide * step), b(kSide * next);
    const std::vector<T> zeros(std::max(channels, channels_out));
    for (int64_t from = 0; from < squares(); from += most) {
      const int64_t count = std::min(most, squares() - from);
      const auto squares = lay(image, from, count, zeros.data());
      for (int64_t row = begin / blocks(); row * blocks() < end; ++row) {
        const int64_t low = std::max<int64_t>(0, begin - row * blocks()) * kTileRows;
        const int64_t high = std::min(channels, (end - row * blocks()) * kTileRows);
        for (int64_t k = 0; k < count; ++k) {
          over_channels(low, high, [&](auto lanes, int64_t c) {
            image_terms<lanes>(row, squares[k], c, a.data + k * channels, step);
          });
          cotangent_terms(row, squares[k], zeros.data(), b.data + k * channels_out, next);
        }
        for (int64_t j = 0; j < kSide; ++j) {
          float* const to = out + (row * kSide + j) * matrix();
          if (from == 0) std::fill(to + low * channels_out, to + high * channels_out, 0.0f);
          for (int64_t c = low; c < high; c += kTileRows)
            sum_tiles<kAdjacent>(std::min<int64_t>(kTileRows, high - c), a.data + j * step + c, 0,
                            b.data + j * next, to + c * channels_out, channels_out,
                            channels_out, {1, count, 0, channels, 0, channels_out});
        }
      }
    }
  }

  void cotangent_terms(int64_t row, const Square<T>& square, const T* zeros, float* terms,
                       int64_t step) const {
    const T* const g = cotangent + square.at * channels_out;
    const T* const under = square.below ? g + x.cotangent * channels_out : zeros;
    const T* const right[] = {square.beside ? g + channels_out : zeros,
                                  square.below && square.beside ? under + channels_out : zeros};
    const float upper = row < 3, lower = row == 0 ? 0.0f : row == 1 ? 1.0f : -1.0f;
    over_channels(0, channels_out, [&](auto lanes, int64_t k) {
      const auto a = upper * load<lanes>(g + k) + lower * load<lanes>(under + k);
      const auto b = upper * load<lanes>(right[0] + k) + lower * load<lanes>(right[1] + k);
      store<lanes>(terms + k, a);
      store<lanes>(terms + step + k, a + b);
      store<lanes>(terms + 2 * step + k, a - b);
      store<lanes>(terms + 3 * step + k, -b);
    });
  }

  static void put_together(const float* terms, float* filters, int64_t size) {
    over_channels(0, size, [=](auto lanes, int64_t at) {
      turn_axes<lanes, kSide, 3>(
          [&](int i, int j) { return terms + (kSide * i + j) * size + at; },
          [](const auto* v, auto* out) {
            const auto both = 0.5f * (v[1] + v[2]);
            out[0] = v[0] + both, out[1] = 0.5f * (v[1] - v[2]), out[2] = both + v[3];
          },
          [&](int r, int s) { return filters + (3 * r + s) * size + at; });
    });
  }
};

}  // namespace
