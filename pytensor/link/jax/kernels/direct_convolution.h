// Convolutions and the gradients of their filters, by their definition.

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
struct FilterGradient : ConvShape {
  const T *image, *cotangent;
  float* out;

  static constexpr int64_t kChannels = depthwise ? kVectors * kLanes : kTileRows;
  int64_t per_tap() const { return ceil_div(channels, kChannels); }
  int64_t size() const { return y.taps * x.taps * per_tap(); }

  void operator()(int64_t begin, int64_t end) const {
    const int64_t width = depthwise ? 1 : channels_out;
    const auto channel = [this](int64_t tile) { return tile % per_tap() * kChannels; };
    const auto count = [&](int64_t tile) { return std::min(kChannels, channels - channel(tile)); };
    const auto tile_out = [&](int64_t tile) {
      return out + (tile / per_tap() * channels + channel(tile)) * width;
    };
    for (int64_t tile = begin; tile < end; ++tile)
      std::fill_n(tile_out(tile), count(tile) * width, 0.0f);
    const int64_t rows_per_block = kPositionsPerBlock / (x.cotangent + 1) + 1;
    FloatView<T> images, cotangents;
    for (int64_t n = 0; n < batch; ++n)
      for (int64_t p = 0, block_end; p < y.cotangent; p = block_end) {
        block_end = std::min(y.cotangent, p + rows_per_block);
        const int64_t image_top = std::max<int64_t>(0, p * y.stride + y.offset(0));
        const int64_t image_end =
            std::min(y.image, (block_end - 1) * y.stride + y.offset(y.taps - 1) + 1);
        images.read(image, image_index(n, image_top, 0) * channels,
                    image_index(n, image_end, 0) * channels);
        cotangents.read(cotangent, cotangent_index(n, p, 0) * channels_out,
                        cotangent_index(n, block_end, 0) * channels_out);
        for (int64_t tile = begin; tile < end; ++tile) {
          const int64_t r = tile / per_tap() / x.taps, s = tile / per_tap() % x.taps;
          // The positions of these rows whose tap lies in the image.
          const int64_t top = std::max(p, y.first_position(r));
          const int64_t bottom = std::min(block_end, y.end_position(r));
          const int64_t left = x.first_position(s), right = x.end_position(s);
          if (top >= bottom || left >= right) continue;
          const Reduction reduction{bottom - top, right - left,
                                    y.stride * x.image * channels, x.stride * channels,
                                    x.cotangent * channels_out, channels_out};
          const float* const a =
              channel(tile) + images.at(channels * image_index(n, top * y.stride + y.offset(r),
                                                               left * x.stride + x.offset(s)));
          const float* const b = cotangents.at(cotangent_index(n, top, left) * channels_out);
          if constexpr (depthwise)
            multiply_columns<1, kElementwise>(a, 0, b + channel(tile), tile_out(tile), 0,
                                              count(tile), reduction);
          else
            multiply_rows<kAccumulate>(count(tile), a, 0, b, tile_out(tile), width, width,
                                       reduction);
        }
      }
  }
};

// The filters have no dilation between columns.
template <typename T>
struct DirectConvolution : ConvShape {
  const T* image;
  const float* filters;
  T* out;
  int64_t image_stride, row_stride, column_stride;  // of `out`, in positions

  int64_t size() const { return batch * y.cotangent; }

  void operator()(int64_t begin, int64_t end) const {
    // From `left` to `right` the filter's columns all lie in the image.
    const int64_t left = std::min(std::max<int64_t>(0, ceil_div(x.pad, x.stride)), x.cotangent);
    const int64_t right = std::max(left, x.end_position(x.taps - 1));
    FloatView<T> images;
    for (int64_t line = begin; line < end; ++line) {
      const int64_t n = line / y.cotangent, p = line % y.cotangent, r = y.first_tap(p);
      const int64_t rows = y.end_tap(p) - r, top = p * y.stride + y.offset(r);
      const int64_t bottom = top + (rows - 1) * y.dilation + 1;
      images.read(image, image_index(n, top, 0) * channels, image_index(n, bottom, 0) * channels);
      // Taps of a row, and their channels, lie side by side in the image and in the filters.
      const auto convolve = [&](int64_t from, int64_t end, int64_t step, int64_t k) {
        for (int64_t q = from; q < end; q += step) {
          const int64_t s = x.first_tap(q), length = (x.end_tap(q) - s) * channels;
          multiply_rows<kStore>(
              std::min(step, end - q),
              images.at(image_index(n, top, q * x.stride + x.offset(s)) * channels),
              x.stride * channels, filters + (r * x.taps + s) * tap_size() + k,
              out + (n * image_stride + p * row_stride + q * column_stride) * channels_out + k,
              column_stride * channels_out, std::min<int64_t>(2 * kLanes, channels_out - k),
              {rows, length, y.dilation * x.image * channels, 1, x.taps * tap_size(),
               channels_out});
        }
      };
      // Filters for two vectors of channels stay in the nearest cache.
      for (int64_t k = 0; k < channels_out; k += 2 * kLanes) {
        convolve(0, left, 1, k);
        convolve(left, right, kTileRows, k);
        convolve(right, x.cotangent, 1, k);
      }
    }
  }
};

}  // namespace
