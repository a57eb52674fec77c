#pragma once

#include <algorithm>
#include <cstdint>

#include "ceil_div.h"

namespace {

// One spatial axis: lengths of the image, of the cotangent and of the filters, and the window.
struct Axis {
  int64_t image, cotangent, taps, stride, dilation, pad;

  int64_t offset(int64_t tap) const { return tap * dilation - pad; }
  bool is_pointwise() const { return taps == 1 && stride == 1 && image == cotangent && pad == 0; }
  // The cotangent's positions whose tap lies in the image.
  int64_t first_position(int64_t tap) const {
    return std::max<int64_t>(0, ceil_div(-offset(tap), stride));
  }
  int64_t end_position(int64_t tap) const {
    return std::min(cotangent, ceil_div(image - offset(tap), stride));
  }
  // The taps that lie in the image, at a position of the cotangent.
  int64_t first_tap(int64_t p) const {
    return std::max<int64_t>(0, ceil_div(pad - p * stride, dilation));
  }
  int64_t end_tap(int64_t p) const {
    return std::min(taps, ceil_div(image + pad - p * stride, dilation));
  }
  int64_t first_tap_of_phase(int64_t phase) const { return (phase + pad) % stride; }
  // The convolution of the cotangent that is the image's gradient at `phase` and every `stride` on:
  // its filters are the tap `first_tap_of_phase` and every `stride` on, flipped.  Without dilation.
  Axis transposed(int64_t phase) const {
    const int64_t phase_taps =
        std::max<int64_t>(0, ceil_div(taps - first_tap_of_phase(phase), stride));
    const int64_t positions = ceil_div(image - phase, stride);
    return {cotangent, positions, phase_taps, 1, 1, phase_taps - 1 - (phase + pad) / stride};
  }
};

// The shape of a convolution, which its gradients share.
struct ConvShape {
  int64_t batch, channels, channels_out;
  Axis y, x;

  int64_t tap_size() const { return channels * channels_out; }  // of the filters
  // In positions, each of which has all channels.
  int64_t image_index(int64_t n, int64_t row, int64_t column) const {
    return (n * y.image + row) * x.image + column;
  }
  int64_t cotangent_index(int64_t n, int64_t p, int64_t q) const {
    return (n * y.cotangent + p) * x.cotangent + q;
  }
};

}  // namespace
