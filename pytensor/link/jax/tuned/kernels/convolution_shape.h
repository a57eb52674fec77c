#pragma once

#include <algorithm>
#include <cstdint>

#include "ceil_div.h"

namespace {

// Along one axis: positions of the image and of the cotangent that belong together at a tap.
struct Axis {
  int64_t image, cotangent, taps, stride, dilation, pad;

  int64_t shift(int64_t tap) const { return tap * dilation - pad; }
  bool is_plain() const { return taps == 1 && stride == 1 && image == cotangent && pad == 0; }
  // Of the cotangent's, those that see the image.
  int64_t first(int64_t tap) const { return std::max<int64_t>(0, ceil_div(-shift(tap), stride)); }
  int64_t end(int64_t r) const { return std::min(cotangent, ceil_div(image - shift(r), stride)); }
  // Of the taps, those that see the image.
  int64_t first_tap(int64_t p) const {
    return std::max<int64_t>(0, ceil_div(pad - p * stride, dilation));
  }
  int64_t end_tap(int64_t p) const {
    return std::min(taps, ceil_div(image + pad - p * stride, dilation));
  }
  int64_t first_seeing(int64_t start) const { return (start + pad) % stride; }
  // Of the image's gradient at `start` and each `stride` on, which is a convolution of the
  // cotangent: by the tap `first_seeing` and each `stride` on, turned round.  Without dilation.
  Axis backward(int64_t start) const {
    const int64_t seeing = std::max<int64_t>(0, ceil_div(taps - first_seeing(start), stride));
    return {cotangent, ceil_div(image - start, stride), seeing, 1, 1,
            seeing - 1 - (start + pad) / stride};
  }
};

// What convolutions and their gradients have in common.
struct Problem {
  int64_t batch, channels, channels_out;
  Axis y, x;

  int64_t matrix() const { return channels * channels_out; }  // the filters' numbers at a tap
  // Offsets of rows and positions, in positions.
  int64_t image_at(int64_t n, int64_t row, int64_t column) const {
    return (n * y.image + row) * x.image + column;
  }
  int64_t cotangent_at(int64_t n, int64_t p, int64_t q) const {
    return (n * y.cotangent + p) * x.cotangent + q;
  }
};

}  // namespace
