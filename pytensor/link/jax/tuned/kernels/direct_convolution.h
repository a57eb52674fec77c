// Convolutions and the gradients of their filters, term by term.

#pragma once

#include <algorithm>
#include <cstdint>

#include "buffers.h"
#include "ceil_div.h"
#include "convolution_shape.h"
#include "register_tiles.h"
#include "vectors.h"

namespace {

template <typename T, bool depthwise>
struct GradFilters : Problem {
  const T *image, *cotangent;
  float* out;

  static constexpr int64_t kChannels = depthwise ? kVectors * kLanes : kTileRows;
  int64_t per_tap() const { return ceil_div(channels, kChannels); }
  int64_t size() const { return y.taps * x.taps * per_tap(); }

  void operator()(int64_t begin, int64_t end) const {
    const int64_t width = depthwise ? 1 : channels_out;
    const auto channel = [this](int64_t tile) { return tile % per_tap() * kChannels; };
    const auto count = [&](int64_t tile) { return std::min(kChannels, channels - channel(tile)); };
    const auto place = [&](int64_t tile) {
      return out + (tile / per_tap() * channels + channel(tile)) * width;
    };
    for (int64_t tile = begin; tile < end; ++tile)
      std::fill_n(place(tile), count(tile) * width, 0.0f);
    const int64_t rows_at_once = kPositions / (x.cotangent + 1) + 1;
    Wide<T> images, cotangents;
    for (int64_t n = 0; n < batch; ++n)
      for (int64_t p = 0, past; p < y.cotangent; p = past) {
        past = std::min(y.cotangent, p + rows_at_once);
        const int64_t high = std::max<int64_t>(0, p * y.stride + y.shift(0));
        const int64_t low = std::min(y.image, (past - 1) * y.stride + y.shift(y.taps - 1) + 1);
        images.read(image, image_at(n, high, 0) * channels, image_at(n, low, 0) * channels);
        cotangents.read(cotangent, cotangent_at(n, p, 0) * channels_out,
                        cotangent_at(n, past, 0) * channels_out);
        for (int64_t tile = begin; tile < end; ++tile) {
          const int64_t r = tile / per_tap() / x.taps, s = tile / per_tap() % x.taps;
          // What the tap sees of these rows.
          const int64_t top = std::max(p, y.first(r)), bottom = std::min(past, y.end(r));
          const int64_t left = x.first(s), right = x.end(s);
          if (top >= bottom || left >= right) continue;
          const Series series{bottom - top, right - left, y.stride * x.image * channels,
                              x.stride * channels, x.cotangent * channels_out, channels_out};
          const float* const a = channel(tile) + images.at(channels * image_at(
              n, top * y.stride + y.shift(r), left * x.stride + x.shift(s)));
          const float* const b = cotangents.at(cotangent_at(n, top, left) * channels_out);
          if constexpr (depthwise)
            sum_columns<1, kPairs>(a, 0, b + channel(tile), place(tile), 0, count(tile), series);
          else
            sum_tiles<kAdjacent>(count(tile), a, 0, b, place(tile), width, width, series);
        }
      }
  }
};

// Columns of its filters are not dilated.
template <typename T>
struct Convolution : Problem {
  const T* image;
  const float* filters;
  T* out;
  int64_t images_apart, down, across;  // in `out`: images, rows and columns, in positions

  int64_t size() const { return batch * y.cotangent; }

  void operator()(int64_t begin, int64_t end) const {
    // Between `left` and `right` a filter is over no edge.
    const int64_t left = std::min(std::max<int64_t>(0, ceil_div(x.pad, x.stride)), x.cotangent);
    const int64_t right = std::max(left, x.end(x.taps - 1));
    Wide<T> images;
    for (int64_t line = begin; line < end; ++line) {
      const int64_t n = line / y.cotangent, p = line % y.cotangent, r = y.first_tap(p);
      const int64_t rows = y.end_tap(p) - r, top = p * y.stride + y.shift(r);
      const int64_t bottom = top + (rows - 1) * y.dilation + 1;
      images.read(image, image_at(n, top, 0) * channels, image_at(n, bottom, 0) * channels);
      // Taps of a row, and their channels, lie side by side in the image and in the filters.
      const auto sum = [&](int64_t from, int64_t end, int64_t at_once, int64_t k) {
        for (int64_t q = from; q < end; q += at_once) {
          const int64_t s = x.first_tap(q), length = (x.end_tap(q) - s) * channels;
          sum_tiles<kApart>(
              std::min(at_once, end - q),
              images.at(image_at(n, top, q * x.stride + x.shift(s)) * channels),
              x.stride * channels, filters + (r * x.taps + s) * matrix() + k,
              out + (n * images_apart + p * down + q * across) * channels_out + k,
              across * channels_out, std::min<int64_t>(2 * kLanes, channels_out - k),
              {rows, length, y.dilation * x.image * channels, 1, x.taps * matrix(), channels_out});
        }
      };
      // The filters that two vectors read stay in the nearest cache.
      for (int64_t k = 0; k < channels_out; k += 2 * kLanes) {
        sum(0, left, 1, k);
        sum(left, right, kTileRows, k);
        sum(right, x.cotangent, 1, k);
      }
    }
  }
};

}  // namespace
