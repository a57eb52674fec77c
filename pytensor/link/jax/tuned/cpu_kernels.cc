// Gradients of 2-D convolutions, float32, channels last, on a CPU.
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
// Each value of `out` is one thread's, and its terms are added in one order: results don't depend on
// the number of threads.

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

namespace {

// A tile has kTileRows by two vectors: as many sums as there are registers for.
#if defined(__AVX512F__)
constexpr int kLanes = 16, kTileRows = 8;
#elif defined(__AVX__)
constexpr int kLanes = 8, kTileRows = 4;
#elif defined(__aarch64__)
constexpr int kLanes = 4, kTileRows = 8;
#else
constexpr int kLanes = 4, kTileRows = 4;
#endif
// For one vector after another: enough sums that none waits for its last addition.
constexpr int kVectors = 4;

// About how many positions go by before a tile's sums are put into memory, for the next tile: what
// all tiles read should stay in the nearest caches meanwhile.
constexpr int64_t kPositions = 160;

template <int lanes>
struct VectorOf {
  typedef float type __attribute__((vector_size(lanes * sizeof(float))));
  // In memory it may lie wherever a float may.
  typedef float stored __attribute__((vector_size(lanes * sizeof(float)), aligned(4), may_alias));
};

template <int lanes>
typename VectorOf<lanes>::type load(const float* values) {
  return *reinterpret_cast<const typename VectorOf<lanes>::stored*>(values);
}

template <int lanes>
void add_to(float* values, typename VectorOf<lanes>::type sum) {
  *reinterpret_cast<typename VectorOf<lanes>::stored*>(values) += sum;
}

// Two series of values, in rows: what one tile multiplies and sums up.
struct Series {
  int64_t rows, length;
  // How far apart values are, in floats: `a` and `b` are the factors.
  int64_t a_row, a_step, b_row, b_step;
};

// out[i, :] += the sum over the series of a[i] * b[:].  Items of `a` are `apart`, or `adjacent`.
template <int rows, int vectors, int lanes, bool adjacent>
inline void add_products(const float* a, int64_t apart, const float* b, float* out,
                         int64_t out_row, const Series& series) {
  const int64_t item = adjacent ? 1 : apart;
  // From zero: sums of sums lose less than one long sum.
  typename VectorOf<lanes>::type sums[rows][vectors] = {};
  for (int64_t p = 0; p < series.rows; ++p) {
    const float* x = a + p * series.a_row;
    const float* y = b + p * series.b_row;
    for (int64_t q = 0; q < series.length; ++q) {
      typename VectorOf<lanes>::type terms[vectors];
      for (int j = 0; j < vectors; ++j) terms[j] = load<lanes>(y + j * lanes);
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < vectors; ++j) sums[i][j] += x[i * item] * terms[j];
      x += series.a_step;
      y += series.b_step;
    }
  }
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < vectors; ++j) add_to<lanes>(out + i * out_row + j * lanes, sums[i][j]);
}

// The same for `columns` items of `b`, in vectors.
template <int rows, bool adjacent>
void add_columns(const float* a, int64_t apart, const float* b, float* out, int64_t out_row,
                 int64_t columns, const Series& series) {
  int64_t k = 0;
  for (; k + 2 * kLanes <= columns; k += 2 * kLanes)
    add_products<rows, 2, kLanes, adjacent>(a, apart, b + k, out + k, out_row, series);
  for (; k + kLanes <= columns; k += kLanes)
    add_products<rows, 1, kLanes, adjacent>(a, apart, b + k, out + k, out_row, series);
  if constexpr (kLanes > 8)
    for (; k + 8 <= columns; k += 8)
      add_products<rows, 1, 8, adjacent>(a, apart, b + k, out + k, out_row, series);
  for (; k + 4 <= columns; k += 4)
    add_products<rows, 1, 4, adjacent>(a, apart, b + k, out + k, out_row, series);
  for (; k < columns; ++k)
    add_products<rows, 1, 1, adjacent>(a, apart, b + k, out + k, out_row, series);
}

// The same for up to `rows` items of `a`.
template <bool adjacent, int rows = kTileRows>
void add_tiles(int64_t count, const float* a, int64_t apart, const float* b, float* out,
               int64_t out_row, int64_t columns, const Series& series) {
  if constexpr (rows > 1) {
    if (count < rows)
      return add_tiles<adjacent, rows - 1>(count, a, apart, b, out, out_row, columns, series);
  }
  add_columns<rows, adjacent>(a, apart, b, out, out_row, columns, series);
}

// out[:] += the sum over the series of a[:] * b[:].
template <int vectors, int lanes>
inline void add_vector_products(const float* a, const float* b, float* out, const Series& series) {
  typename VectorOf<lanes>::type sums[vectors] = {};
  for (int64_t p = 0; p < series.rows; ++p) {
    const float* x = a + p * series.a_row;
    const float* y = b + p * series.b_row;
    for (int64_t q = 0; q < series.length; ++q) {
      for (int j = 0; j < vectors; ++j)
        sums[j] += load<lanes>(x + j * lanes) * load<lanes>(y + j * lanes);
      x += series.a_step;
      y += series.b_step;
    }
  }
  for (int j = 0; j < vectors; ++j) add_to<lanes>(out + j * lanes, sums[j]);
}

int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b > 0); }

// Along one axis: positions of the image and of the cotangent that belong together at a tap.
struct Axis {
  int64_t image, cotangent, taps, stride, dilation, pad;

  int64_t shift(int64_t tap) const { return tap * dilation - pad; }
  // Of the cotangent's, those that see the image.
  int64_t first(int64_t tap) const { return std::max<int64_t>(0, ceil_div(-shift(tap), stride)); }
  int64_t end(int64_t tap) const {
    return std::min(cotangent, ceil_div(image - shift(tap), stride));
  }
};

// What the gradients have in common.
struct Problem {
  const float *first, *second;
  float* out;
  int64_t batch, channels, channels_out;
  Axis y, x;

  // Offsets of rows and positions, in positions.
  int64_t image_at(int64_t n, int64_t row, int64_t column) const {
    return (n * y.image + row) * x.image + column;
  }
  int64_t cotangent_at(int64_t n, int64_t p, int64_t q) const {
    return (n * y.cotangent + p) * x.cotangent + q;
  }
  int64_t rows_at_once() const {
    return std::max<int64_t>(1, kPositions / std::max<int64_t>(1, x.cotangent));
  }

  // Call `use(image position, cotangent position, rows, columns)` for what a tap sees of some rows.
  template <typename Use>
  void at_tap(int64_t tap, int64_t n, int64_t p, int64_t rows, Use use) const {
    const int64_t r = tap / x.taps, s = tap % x.taps;
    const int64_t top = std::max(p, y.first(r)), bottom = std::min(p + rows, y.end(r));
    const int64_t left = x.first(s), right = x.end(s);
    if (top < bottom && left < right)
      use(image_at(n, top * y.stride + y.shift(r), left * x.stride + x.shift(s)),
          cotangent_at(n, top, left), bottom - top, right - left);
  }
};

struct GradFilters : Problem {
  int64_t per_tap() const { return ceil_div(channels, kTileRows); }
  int64_t size() const { return y.taps * x.taps * per_tap(); }

  void compute(int64_t begin, int64_t end) const {
    const auto channel = [this](int64_t tile) { return tile % per_tap() * kTileRows; };
    const auto count = [&](int64_t tile) {
      return std::min<int64_t>(kTileRows, channels - channel(tile));
    };
    const auto place = [&](int64_t tile) {
      return out + (tile / per_tap() * channels + channel(tile)) * channels_out;
    };
    for (int64_t tile = begin; tile < end; ++tile)
      std::fill_n(place(tile), count(tile) * channels_out, 0.0f);
    for (int64_t n = 0; n < batch; ++n)
      for (int64_t p = 0; p < y.cotangent; p += rows_at_once())
        for (int64_t tile = begin; tile < end; ++tile)
          at_tap(tile / per_tap(), n, p, rows_at_once(),
                 [&](int64_t image, int64_t cotangent, int64_t rows, int64_t columns) {
                   add_tiles<true>(
                       count(tile), first + image * channels + channel(tile), 0,
                       second + cotangent * channels_out, place(tile), channels_out, channels_out,
                       {rows, columns, y.stride * x.image * channels, x.stride * channels,
                        x.cotangent * channels_out, channels_out});
                 });
  }
};

struct DepthwiseGradFilters : Problem {
  static constexpr int64_t kChannels = kVectors * kLanes;
  int64_t per_tap() const { return ceil_div(channels, kChannels); }
  int64_t size() const { return y.taps * x.taps * per_tap(); }

  void compute(int64_t begin, int64_t end) const {
    const auto channel = [this](int64_t tile) { return tile % per_tap() * kChannels; };
    const auto count = [&](int64_t tile) { return std::min(kChannels, channels - channel(tile)); };
    const auto place = [&](int64_t tile) { return out + tile / per_tap() * channels + channel(tile); };
    for (int64_t tile = begin; tile < end; ++tile) std::fill_n(place(tile), count(tile), 0.0f);
    for (int64_t n = 0; n < batch; ++n)
      for (int64_t p = 0; p < y.cotangent; p += rows_at_once())
        for (int64_t tile = begin; tile < end; ++tile)
          at_tap(tile / per_tap(), n, p, rows_at_once(),
                 [&](int64_t image, int64_t cotangent, int64_t rows, int64_t columns) {
                   add(count(tile), first + image * channels + channel(tile),
                       second + cotangent * channels + channel(tile), place(tile),
                       {rows, columns, y.stride * x.image * channels, x.stride * channels,
                        x.cotangent * channels, channels});
                 });
  }

  static void add(int64_t count, const float* a, const float* b, float* out, const Series& series) {
    if (count == kChannels) return add_vector_products<kVectors, kLanes>(a, b, out, series);
    int64_t c = 0;
    for (; c + kLanes <= count; c += kLanes)
      add_vector_products<1, kLanes>(a + c, b + c, out + c, series);
    for (; c + 4 <= count; c += 4) add_vector_products<1, 4>(a + c, b + c, out + c, series);
    for (; c < count; ++c) add_vector_products<1, 1>(a + c, b + c, out + c, series);
  }
};

// `first` is the cotangent, `second` the filters.
struct GradImage : Problem {
  int64_t size() const { return batch * y.image; }

  // Rows of the image.
  void compute(int64_t begin, int64_t end) const {
    std::fill_n(out + begin * x.image * channels, (end - begin) * x.image * channels, 0.0f);
    for (int64_t line = begin; line < end; ++line)
      for (int64_t r = 0; r < y.taps; ++r) {
        const int64_t n = line / y.image, from = line % y.image - y.shift(r), p = from / y.stride;
        if (from < 0 || from % y.stride || p >= y.cotangent) continue;
        for (int64_t s = 0; s < x.taps; ++s)
          for (int64_t q = x.first(s); q < x.end(s); q += kTileRows)
            add_tiles<false>(std::min<int64_t>(kTileRows, x.end(s) - q),
                             first + cotangent_at(n, p, q) * channels_out, channels_out,
                             second + (r * x.taps + s) * channels_out * channels,
                             out + (line * x.image + q * x.stride + x.shift(s)) * channels,
                             x.stride * channels, channels,
                             {1, channels_out, 0, 1, 0, channels});
      }
  }
};

// Parts of a problem, which threads take as they come.
template <typename P>
struct Shared {
  P problem;
  int64_t parts;
  std::atomic<int64_t> next{0};
  std::mutex mutex;
  std::condition_variable changed;
  int64_t done = 0;

  void take_parts() {
    const int64_t size = problem.size();
    for (int64_t part; (part = next++) < parts;) {
      problem.compute(part * size / parts, (part + 1) * size / parts);
      std::lock_guard<std::mutex> lock(mutex);
      if (++done == parts) changed.notify_all();
    }
  }
};

template <typename P>
void solve(ffi::ThreadPool& pool, const P& problem) {
  auto shared = std::make_shared<Shared<P>>();
  shared->problem = problem;
  shared->parts = std::min<int64_t>(problem.size(), std::max<int64_t>(1, pool.num_threads()));
  for (int64_t k = 1; k < shared->parts; ++k) pool.Schedule([shared] { shared->take_parts(); });
  shared->take_parts();
  // Nothing is left to take: what isn't done yet, running threads have.  One that comes later finds
  // nothing, so it isn't waited for in vain when all threads of the pool wait like this one.
  std::unique_lock<std::mutex> lock(shared->mutex);
  shared->changed.wait(lock, [&] { return shared->done == shared->parts; });
}

using Sizes = ffi::Span<const int64_t>;
using Images = ffi::BufferR4<ffi::F32>;

Axis axis(int k, const Images::Dimensions& image, const Images::Dimensions& cotangent, int64_t taps,
          Sizes stride, Sizes dilation, Sizes pad) {
  return {image[k + 1], cotangent[k + 1], taps, stride[k], dilation[k], pad[k]};
}

template <typename P>
ffi::Error grad_filters(ffi::ThreadPool pool, Images image, Images cotangent, Sizes stride,
                        Sizes dilation, Sizes pad, ffi::ResultBufferR4<ffi::F32> out) {
  const auto i = image.dimensions(), g = cotangent.dimensions(), o = out->dimensions();
  solve(pool, P{{image.typed_data(), cotangent.typed_data(), out->typed_data(), i[0], i[3], g[3],
                 axis(0, i, g, o[0], stride, dilation, pad),
                 axis(1, i, g, o[1], stride, dilation, pad)}});
  return ffi::Error::Success();
}

ffi::Error grad_image(ffi::ThreadPool pool, Images cotangent, ffi::BufferR4<ffi::F32> filters,
                      Sizes stride, Sizes dilation, Sizes pad,
                      ffi::ResultBufferR4<ffi::F32> out) {
  const auto i = out->dimensions(), g = cotangent.dimensions(), f = filters.dimensions();
  solve(pool, GradImage{{cotangent.typed_data(), filters.typed_data(), out->typed_data(), i[0],
                         i[3], g[3], axis(0, i, g, f[0], stride, dilation, pad),
                         axis(1, i, g, f[1], stride, dilation, pad)}});
  return ffi::Error::Success();
}

auto binding() {
  return ffi::Ffi::Bind()
      .Ctx<ffi::ThreadPool>()
      .Arg<ffi::BufferR4<ffi::F32>>()
      .Arg<ffi::BufferR4<ffi::F32>>()
      .Attr<Sizes>("stride")
      .Attr<Sizes>("dilation")
      .Attr<Sizes>("pad")
      .Ret<ffi::BufferR4<ffi::F32>>();
}

}  // namespace

// What is called from Python has checked the shapes.
XLA_FFI_DEFINE_HANDLER_SYMBOL(pytensor_conv_grad_filters, grad_filters<GradFilters>, binding());
XLA_FFI_DEFINE_HANDLER_SYMBOL(pytensor_depthwise_grad_filters, grad_filters<DepthwiseGradFilters>,
                              binding());
XLA_FFI_DEFINE_HANDLER_SYMBOL(pytensor_conv_grad_image, grad_image, binding());
