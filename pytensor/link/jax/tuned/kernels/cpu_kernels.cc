// Convolutions, their gradients, and normalizations with SiLU; channels last, on a CPU.  Images and
// their gradients are float32 or bfloat16 (T); all else is float32, and so are sums.
//
// With image[n, y, x, c], cotangent[n, p, q, k], and y = p * stride + r * dilation - pad (x alike):
//
//   filters   out[r, s, c, k] = sum over n, p, q of image[n, y, x, c] * cotangent[n, p, q, k]
//   depthwise out[r, s, c]    = sum over n, p, q of image[n, y, x, c] * cotangent[n, p, q, c]
//   image     out[n, y, x, c] = sum over r, s, k of cotangent[n, p, q, k] * filters[r, s, k, c]
//
// A tile of `out` stays in registers while what is summed up goes by.  What it reads lies side by
// side in memory, or in rows, so nothing is copied into patches, padded or transposed; where a
// filter reaches over the image's edge, less is summed up.
//
// Each value of `out` is one thread's, and its terms are added in one order: the number of threads
// changes nothing.

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

// Of arrays with the dimensions of an image, a cotangent and filters.
Problem problem_of(const Buffer& image, const Buffer& cotangent, const Buffer& filters,
                   Window window) {
  const auto x = image.dimensions(), g = cotangent.dimensions(), w = filters.dimensions();
  const auto v = *window;
  return {x[0], x[3], g[3], {x[1], g[1], w[0], v[0], v[2], v[4]},
          {x[2], g[2], w[1], v[1], v[3], v[5]}};
}

template <typename T>
ffi::Error grad_filters(ffi::ThreadPool pool, Buffer image, Buffer cotangent, Window window,
                        Result out) {
  const Problem problem = problem_of(image, cotangent, *out, window);
  const T *x = image.reinterpret_data<T>(), *g = cotangent.reinterpret_data<T>();
  float* const to = out->typed_data<float>();
  if (out->dimensions()[2] < problem.channels) {
    solve(pool, GradFilters<T, true>{problem, x, g, to});
  } else if (Squares::suit(problem)) {
    Room terms(Squares::kTerms * problem.matrix());
    solve(pool, WinogradGradFilters<T>{{problem}, x, g, terms.data});
    WinogradGradFilters<T>::put_together(terms.data, to, problem.matrix());
  } else {
    solve(pool, GradFilters<T, false>{problem, x, g, to});
  }
  return ffi::Error::Success();
}

// Images, rows and columns of the result are so many positions apart.
template <typename T>
void convolve(ffi::ThreadPool& pool, Problem problem, const T* image, const float* filters, T* out,
              int64_t images_apart, int64_t down, int64_t across) {
  Axis &y = problem.y, &x = problem.x;
  const bool dense = across == 1 && down == x.cotangent;
  if (dense && Squares::suit(problem)) {
    Room terms(Squares::kTerms * Squares::apart(problem.matrix()));
    Winograd<T>::take_filters_apart(filters, terms.data, problem.matrix());
    return solve(pool, Winograd<T>{{problem}, image, terms.data, out});
  }
  // Where positions are all alike, longer rows leave fewer tiles that aren't full.
  for (int64_t k = kPositions / std::max<int64_t>(1, x.image); k > 1; --k)
    if (dense && y.is_plain() && x.is_plain() && y.image % k == 0) {
      y.image = y.cotangent /= k, x.image = x.cotangent *= k, down *= k;
      break;
    }
  solve(pool, Convolution<T>{problem, image, filters, out, images_apart, down, across});
}

template <typename T>
ffi::Error convolution(ffi::ThreadPool pool, Buffer image, Buffer filters, Window window,
                       Result out) {
  const Problem problem = problem_of(image, *out, filters, window);
  const int64_t width = problem.x.cotangent;
  convolve(pool, problem, image.reinterpret_data<T>(), filters.typed_data<float>(),
           out->reinterpret_data<T>(), problem.y.cotangent * width, width, 1);
  return ffi::Error::Success();
}

template <typename T>
ffi::Error grad_image(ffi::ThreadPool pool, Buffer cotangent, Buffer filters, Window window,
                      Result out) {
  const Problem p = problem_of(*out, cotangent, filters, window);
  for (int64_t row = 0; row < p.y.stride; ++row)
    for (int64_t column = 0; column < p.x.stride; ++column) {
      const Axis y = p.y.backward(row), x = p.x.backward(column);
      Room turned(y.taps * x.taps * p.matrix());
      for (int64_t tap = 0; tap < y.taps * x.taps; ++tap) {
        const int64_t r = p.y.first_seeing(row) + (y.taps - 1 - tap / x.taps) * p.y.stride;
        const int64_t s = p.x.first_seeing(column) + (x.taps - 1 - tap % x.taps) * p.x.stride;
        std::copy_n(filters.typed_data<float>() + (r * p.x.taps + s) * p.matrix(), p.matrix(),
                    turned.data + tap * p.matrix());
      }
      convolve(pool, {p.batch, p.channels_out, p.channels, y, x}, cotangent.reinterpret_data<T>(),
               turned.data, out->reinterpret_data<T>() + (row * p.x.image + column) * p.channels,
               p.y.image * p.x.image, p.y.stride * p.x.image, p.x.stride);
    }
  return ffi::Error::Success();
}

}  // namespace

// What is called from Python has checked shapes and dtypes.
#define FOR_EACH_T(name, handler)                               \
  XLA_FFI_DEFINE_HANDLER_SYMBOL(name##_float32, handler<float>); \
  XLA_FFI_DEFINE_HANDLER_SYMBOL(name##_bfloat16, handler<BFloat16>)

FOR_EACH_T(pytensor_conv_grad_filters, grad_filters);
FOR_EACH_T(pytensor_conv_grad_image, grad_image);
FOR_EACH_T(pytensor_convolution, convolution);
FOR_EACH_T(pytensor_moments, moments);
FOR_EACH_T(pytensor_normalize_silu, normalize_silu);
FOR_EACH_T(pytensor_grad_normalize_silu, normalize_silu_grad);
