// Convolutions, their gradients, and normalizations with SiLU; channels last, on a CPU.  Images and
// their gradients are float32 or bfloat16 (T); all else is float32, and so are sums.
//
// With image[n, y, x, c], cotangent[n, p, q, k], and y = p * stride + r * dilation - pad (x alike):
//
//   filters   out[r, s, c, k] = sum over n, p, q of image[n, y, x, c] * cotangent[n, p, q, k]
//   depthwise out[r, s, c]    = sum over n, p, q of image[n, y, x, c] * cotangent[n, p, q, c]
//   image     out[n, y, x, c] = sum over r, s, k of cotangent[n, p, q, k] * filters[r, s, k, c]
//
// A tile of `out` stays in registers while its terms are summed up.  They are adjacent in memory,
// or in rows, so nothing is copied into patches, padded or transposed; where a filter reaches over
// the image's edge, the sum has fewer terms.
//
// Each value of `out` is one thread's, and its terms are added in one order: results don't depend
// on the number of threads.
//
// This is the one file that is compiled; the headers are its parts, by subject.

#include <algorithm>
#include <cstdint>

#include "batch_normalization.h"
#include "buffers.h"
#include "convolution_shape.h"
#include "direct_convolution.h"
#include "ffi_types.h"
#include "parallel_for.h"
#include "register_tiles.h"
#include "winograd.h"

namespace {

// The shape of a convolution, of arrays with the dimensions of an image, a cotangent and filters.
ConvShape conv_shape_of(const Buffer& image, const Buffer& cotangent, const Buffer& filters,
                        Window window) {
  const auto x = image.dimensions(), g = cotangent.dimensions(), w = filters.dimensions();
  const auto v = *window;
  return {
      x[0], x[3], g[3], {x[1], g[1], w[0], v[0], v[2], v[4]}, {x[2], g[2], w[1], v[1], v[3], v[5]}};
}

template <typename T>
ffi::Error grad_filters(ffi::ThreadPool pool, Buffer image, Buffer cotangent, Window window,
                        Result out) {
  const ConvShape shape = conv_shape_of(image, cotangent, *out, window);
  const T *x = image.reinterpret_data<T>(), *g = cotangent.reinterpret_data<T>();
  float* const to = out->typed_data<float>();
  if (out->dimensions()[2] < shape.channels) {
    parallel_for(pool, FilterGradient<T, true>{shape, x, g, to});
  } else if (WinogradTiles::are_faster_for(shape)) {
    AlignedBuffer transformed(WinogradTiles::kTransformSize * shape.tap_size());
    parallel_for(pool, WinogradFilterGradient<T>{{shape}, x, g, transformed.data});
    WinogradFilterGradient<T>::inverse_transform(transformed.data, to, shape.tap_size());
  } else {
    parallel_for(pool, FilterGradient<T, false>{shape, x, g, to});
  }
  return ffi::Error::Success();
}

// Convolves; the strides of images, rows and columns of `out` are in positions.
template <typename T>
void convolve(ffi::ThreadPool& pool, ConvShape shape, const T* image, const float* filters, T* out,
              int64_t image_stride, int64_t row_stride, int64_t column_stride) {
  Axis &y = shape.y, &x = shape.x;
  const bool dense = column_stride == 1 && row_stride == x.cotangent;
  if (dense && WinogradTiles::are_faster_for(shape)) {
    AlignedBuffer transformed(WinogradTiles::kTransformSize *
                              WinogradTiles::padded(shape.tap_size()));
    WinogradConvolution<T>::filter_transform(filters, transformed.data, shape.tap_size());
    return parallel_for(pool, WinogradConvolution<T>{{shape}, image, transformed.data, out});
  }
  // Of 1 x 1 filters several rows make one: longer rows leave fewer tiles that aren't full.
  for (int64_t k = kPositionsPerBlock / std::max<int64_t>(1, x.image); k > 1; --k)
    if (dense && y.is_pointwise() && x.is_pointwise() && y.image % k == 0) {
      y.image = y.cotangent /= k, x.image = x.cotangent *= k, row_stride *= k;
      break;
    }
  parallel_for(pool, DirectConvolution<T>{shape, image, filters, out, image_stride, row_stride,
                                          column_stride});
}

template <typename T>
ffi::Error convolution(ffi::ThreadPool pool, Buffer image, Buffer filters, Window window,
                       Result out) {
  const ConvShape shape = conv_shape_of(image, *out, filters, window);
  const int64_t width = shape.x.cotangent;
  convolve(pool, shape, image.reinterpret_data<T>(), filters.typed_data<float>(),
           out->reinterpret_data<T>(), shape.y.cotangent * width, width, 1);
  return ffi::Error::Success();
}

template <typename T>
ffi::Error grad_image(ffi::ThreadPool pool, Buffer cotangent, Buffer filters, Window window,
                      Result out) {
  const ConvShape p = conv_shape_of(*out, cotangent, filters, window);
  for (int64_t row = 0; row < p.y.stride; ++row)
    for (int64_t column = 0; column < p.x.stride; ++column) {
      const Axis y = p.y.transposed(row), x = p.x.transposed(column);
      AlignedBuffer flipped(y.taps * x.taps * p.tap_size());
      for (int64_t tap = 0; tap < y.taps * x.taps; ++tap) {
        const int64_t r = p.y.first_tap_of_phase(row) + (y.taps - 1 - tap / x.taps) * p.y.stride;
        const int64_t s = p.x.first_tap_of_phase(column) + (x.taps - 1 - tap % x.taps) * p.x.stride;
        std::copy_n(filters.typed_data<float>() + (r * p.x.taps + s) * p.tap_size(), p.tap_size(),
                    flipped.data + tap * p.tap_size());
      }
      convolve(pool, {p.batch, p.channels_out, p.channels, y, x}, cotangent.reinterpret_data<T>(),
               flipped.data, out->reinterpret_data<T>() + (row * p.x.image + column) * p.channels,
               p.y.image * p.x.image, p.y.stride * p.x.image, p.x.stride);
    }
  return ffi::Error::Success();
}

}  // namespace

// Shapes and dtypes are checked in Python.
#define FOR_EACH_T(name, handler)                                \
  XLA_FFI_DEFINE_HANDLER_SYMBOL(name##_float32, handler<float>); \
  XLA_FFI_DEFINE_HANDLER_SYMBOL(name##_bfloat16, handler<BFloat16>)

FOR_EACH_T(pytensor_conv_grad_filters, grad_filters);
FOR_EACH_T(pytensor_conv_grad_image, grad_image);
FOR_EACH_T(pytensor_convolution, convolution);
FOR_EACH_T(pytensor_moments, moments);
FOR_EACH_T(pytensor_normalize_silu, normalize_silu);
FOR_EACH_T(pytensor_grad_normalize_silu, normalize_silu_grad);
