// Convolutions, their gradients, and normalizations with SiLU; float32, channels last, on a CPU.
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
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <numeric>
#include <type_traits>
#include <vector>

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
  // Of the taps, those that see the image.
  int64_t first_tap(int64_t p) const {
    return std::max<int64_t>(0, ceil_div(pad - p * stride, dilation));
  }
  int64_t end_tap(int64_t p) const {
    return std::min(taps, ceil_div(image + pad - p * stride, dilation));
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

// `first` is the image, `second` the filters: the convolution itself.
struct Convolution : Problem {
  int64_t size() const { return batch * y.cotangent; }

  // Rows of the result.
  void compute(int64_t begin, int64_t end) const {
    std::fill_n(out + begin * x.cotangent * channels_out,
                (end - begin) * x.cotangent * channels_out, 0.0f);
    // Between `left` and `right` a filter is over no edge.
    const int64_t left = std::min(std::max<int64_t>(0, ceil_div(x.pad, x.stride)), x.cotangent);
    const int64_t right = std::max(left, x.end(x.taps - 1));
    for (int64_t line = begin; line < end; ++line) {
      add(line, 0, left, 1);
      add(line, left, right, kTileRows);
      add(line, right, x.cotangent, 1);
    }
  }

  // Taps of a row, and their channels, lie side by side in the image and in the filters.
  void add(int64_t line, int64_t from, int64_t end, int64_t at_once) const {
    const int64_t n = line / y.cotangent, p = line % y.cotangent;
    const int64_t r = y.first_tap(p), rows = y.end_tap(p) - r;
    for (int64_t q = from; q < end && rows > 0; q += at_once) {
      const int64_t s_end = x.end_tap(q);
      const int64_t together = x.dilation == 1 ? s_end - x.first_tap(q) : 1;
      for (int64_t s = x.first_tap(q); s < s_end; s += together)
        add_tiles<false>(
            std::min(at_once, end - q),
            first + image_at(n, p * y.stride + y.shift(r), q * x.stride + x.shift(s)) * channels,
            x.stride * channels, second + (r * x.taps + s) * channels * channels_out,
            out + (line * x.cotangent + q) * channels_out, channels_out, channels_out,
            {rows, together * channels, y.dilation * x.image * channels, 1,
             x.taps * channels * channels_out, channels_out});
    }
  }
};

// Parts of a problem, which threads take as they come.
template <typename P>
struct Shared {
  explicit Shared(const P& problem) : problem(problem) {}

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
  auto shared = std::make_shared<Shared<P>>(problem);
  shared->parts = std::min<int64_t>(problem.size(), std::max<int64_t>(1, pool.num_threads()));
  for (int64_t k = 1; k < shared->parts; ++k) pool.Schedule([shared] { shared->take_parts(); });
  shared->take_parts();
  // Nothing is left to take: what isn't done yet, running threads have.  One that comes later finds
  // nothing, so it isn't waited for in vain when all threads of the pool wait like this one.
  std::unique_lock<std::mutex> lock(shared->mutex);
  shared->changed.wait(lock, [&] { return shared->done == shared->parts; });
}

// ------------------------------------------------------------------------------ normalization
//
// Of rows of channels.  Rows of few channels are taken several at a time, as a wide one that fills
// vectors; values of channels are repeated as often.  Rows are summed up in chunks that stay in the
// caches, and the chunks' sums in double precision, in one order.

template <int lanes>
using Floats = typename VectorOf<lanes>::type;

template <int lanes>
void store(float* values, Floats<lanes> v) {
  *reinterpret_cast<typename VectorOf<lanes>::stored*>(values) = v;
}

// 1 / (1 + exp(-x)); the relative error is below 3e-7.
template <int lanes>
inline Floats<lanes> sigmoid(Floats<lanes> x) {
  typedef int32_t Integers __attribute__((vector_size(lanes * sizeof(int32_t))));
  constexpr float kFar = 87.0f, kRound = 12582912.0f;  // 1.5 * 2^23: no digit behind the point
  Floats<lanes> y = x < -kFar ? Floats<lanes>{} + kFar : -x;
  y = y < -kFar ? Floats<lanes>{} - kFar : y;
  // exp(y) = 2^n exp(r); the second by a polynomial through Chebyshev's nodes.
  const Floats<lanes> shifted = y * 1.44269504f + kRound, n = shifted - kRound;
  const Floats<lanes> r = (y - n * 0.693145752f) - n * 1.42860677e-6f;
  Floats<lanes> p = r * 1.39411085e-3f + 8.37512594e-3f;
  p = p * r + 4.16663513e-2f;
  p = p * r + 0.166664153f;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  const Integers bits = (Integers)p + ((Integers)shifted << 23);
  return x < -kFar ? Floats<lanes>{} : 1.0f / (1.0f + (Floats<lanes>)bits);
}

struct Rows {
  int64_t rows, channels;
  static constexpr int64_t kChunk = 16384;  // floats

  // Wide rows, or in the end rows that are too few for one.
  struct Chunk {
    int64_t number, at, rows, width;
    bool whole;
  };

  int64_t beside() const {
    int64_t count = kLanes / std::gcd<int64_t>(channels, kLanes);
    while (channels && count * channels < kVectors * kLanes) count *= 2;
    return count;
  }
  int64_t width() const { return beside() * channels; }
  int64_t at_once() const { return std::max<int64_t>(1, kChunk / width()); }
  int64_t whole() const { return ceil_div(rows / beside(), at_once()); }
  int64_t size() const { return channels ? whole() + (rows % beside() > 0) : 0; }

  Chunk chunk(int64_t number) const {
    const int64_t from = number * at_once(), wide = rows / beside();
    if (number < whole())
      return {number, from * width(), std::min(at_once(), wide - from), width(), true};
    return {number, wide * width(), rows % beside(), channels, false};
  }

  // Values of channels, as a wide row.
  std::vector<float> repeated(const float* values) const {
    std::vector<float> all;
    for (int64_t k = 0; k < beside(); ++k) all.insert(all.end(), values, values + channels);
    return all;
  }

  // Two sums of each column of the chunks.
  std::vector<float> make_sums() const { return std::vector<float>(size() * 2 * width()); }

  // Call `use(rows, sums, other sums)` with those of all channels, as often as there are some.
  template <typename Use>
  void over_sums(const std::vector<float>& sums, Use use) const {
    for (int64_t k = 0; k < size(); ++k)
      for (int64_t at = 0; at < chunk(k).width; at += channels)
        use(double(chunk(k).rows), &sums[2 * k * width() + at], &sums[(2 * k + 1) * width() + at]);
  }
};

// Calls `body(vectors, lanes, chunk, column)` for all columns of all chunks.
template <int vectors, typename Body>
struct Pass : Rows {
  Body body;

  void compute(int64_t begin, int64_t end) const {
    const std::integral_constant<int, 1> one;
    const std::integral_constant<int, kLanes> lanes;
    for (int64_t number = begin; number < end; ++number) {
      const Chunk part = chunk(number);
      int64_t k = 0;
      for (; part.whole && k + vectors * kLanes <= part.width; k += vectors * kLanes)
        body(std::integral_constant<int, vectors>(), lanes, part, k);
      for (; part.whole && k < part.width; k += kLanes) body(one, lanes, part, k);
      for (; k < part.width; ++k) body(one, one, part, k);
    }
  }
};

template <int vectors, typename Body>
void pass(ffi::ThreadPool& pool, const Rows& rows, Body body) {
  solve(pool, Pass<vectors, Body>{rows, body});
}

using Image = ffi::Buffer<ffi::F32>;
using Values = ffi::BufferR1<ffi::F32>;
using ImageOut = ffi::ResultBuffer<ffi::F32>;
using ValuesOut = ffi::ResultBufferR1<ffi::F32>;

Rows rows_of(const Image& image) {
  const int64_t channels = image.dimensions().back();
  return {channels ? int64_t(image.element_count()) / channels : 0, channels};
}

double inverse_deviation(float variance, float epsilon) {
  return 1 / std::sqrt(double(variance) + epsilon);
}

ffi::Error moments(ffi::ThreadPool pool, Image image, Values gamma, float epsilon,
                   ValuesOut mean_out, ValuesOut variance_out, ValuesOut scale_out) {
  const Rows rows = rows_of(image);
  std::vector<float> all = rows.make_sums();
  const float* x = image.typed_data();
  float* sums = all.data();
  // The mean of a chunk, and the squared differences to it.
  pass<kVectors>(pool, rows, [=](auto vectors, auto lanes, const Rows::Chunk& chunk, int64_t k) {
    Floats<lanes> mean[vectors] = {}, squares[vectors] = {};
    const float* const begin = x + chunk.at + k;
    const float* const end = begin + chunk.rows * chunk.width;
    for (const float* row = begin; row < end; row += chunk.width)
      for (int v = 0; v < vectors; ++v) mean[v] += load<lanes>(row + v * lanes);
    for (int v = 0; v < vectors; ++v) mean[v] /= float(chunk.rows);
    for (const float* row = begin; row < end; row += chunk.width)
      for (int v = 0; v < vectors; ++v) {
        const Floats<lanes> difference = load<lanes>(row + v * lanes) - mean[v];
        squares[v] += difference * difference;
      }
    float* out = sums + 2 * chunk.number * rows.width() + k;
    for (int v = 0; v < vectors; ++v) {
      store<lanes>(out + v * lanes, mean[v]);
      store<lanes>(out + rows.width() + v * lanes, squares[v]);
    }
  });
  const int64_t channels = rows.channels;
  const double number = std::max<int64_t>(1, rows.rows);
  std::vector<double> mean(channels), squares(channels);
  rows.over_sums(all, [&](double count, const float* means, const float*) {
    for (int64_t c = 0; c < channels; ++c) mean[c] += count / number * means[c];
  });
  rows.over_sums(all, [&](double count, const float* means, const float* of_squares) {
    for (int64_t c = 0; c < channels; ++c) {
      const double difference = means[c] - mean[c];
      squares[c] += of_squares[c] + count * difference * difference;
    }
  });
  for (int64_t c = 0; c < channels; ++c) {
    mean_out->typed_data()[c] = mean[c];
    const float variance = variance_out->typed_data()[c] = squares[c] / number;
    scale_out->typed_data()[c] = gamma.typed_data()[c] * inverse_deviation(variance, epsilon);
  }
  return ffi::Error::Success();
}

// Some of a wide row's values.
template <int vectors, int lanes>
struct Part {
  Floats<lanes> v[vectors];

  explicit Part(const float* values) {
    for (int i = 0; i < vectors; ++i) v[i] = load<lanes>(values + i * lanes);
  }
  const Floats<lanes>& operator[](int i) const { return v[i]; }
};

// What the passes over a normalization's image read, as wide rows.
struct Normalized {
  std::vector<double> inverse;
  std::vector<float> mean, scale, beta;

  Normalized(const Rows& rows, Values gamma, Values beta_of, Values mean_of, Values variance,
             float epsilon)
      : inverse(rows.channels),
        mean(rows.repeated(mean_of.typed_data())),
        beta(rows.repeated(beta_of.typed_data())) {
    std::vector<float> scale_of(rows.channels);
    for (int64_t c = 0; c < rows.channels; ++c) {
      inverse[c] = inverse_deviation(variance.typed_data()[c], epsilon);
      scale_of[c] = gamma.typed_data()[c] * inverse[c];
    }
    scale = rows.repeated(scale_of.data());
  }
};

ffi::Error normalize_silu(ffi::ThreadPool pool, Image image, Values gamma, Values beta_of,
                          Values mean_of, Values variance, float epsilon, ImageOut result) {
  const Rows rows = rows_of(image);
  const Normalized known(rows, gamma, beta_of, mean_of, variance, epsilon);
  const float *x = image.typed_data(), *means = known.mean.data(), *scales = known.scale.data();
  const float* betas = known.beta.data();
  float* out = result->typed_data();
  pass<2>(pool, rows, [=](auto vectors, auto lanes, const Rows::Chunk& chunk, int64_t k) {
    const Part<vectors, lanes> mean(means + k), scale(scales + k), beta(betas + k);
    for (int64_t row = 0, at = chunk.at + k; row < chunk.rows; ++row, at += chunk.width)
      for (int v = 0; v < vectors; ++v) {
        const auto z = (load<lanes>(x + at + v * lanes) - mean[v]) * scale[v] + beta[v];
        store<lanes>(out + at + v * lanes, z * sigmoid<lanes>(z));
      }
  });
  return ffi::Error::Success();
}

// SiLU's derivative at the normalized image.
template <int lanes>
inline Floats<lanes> slope_of_silu(Floats<lanes> centred, Floats<lanes> scale,
                                   Floats<lanes> beta) {
  const Floats<lanes> z = centred * scale + beta, s = sigmoid<lanes>(z);
  return s * (1.0f + z * (1.0f - s));
}

ffi::Error normalize_silu_grad(ffi::ThreadPool pool, Image image, Values gamma, Values beta_of,
                               Values mean_of, Values variance, Image cotangent, float epsilon,
                               ImageOut g_image, ValuesOut g_gamma, ValuesOut g_beta) {
  const Rows rows = rows_of(image);
  const int64_t channels = rows.channels;
  const Normalized known(rows, gamma, beta_of, mean_of, variance, epsilon);
  const float *x = image.typed_data(), *g = cotangent.typed_data(), *means = known.mean.data();
  const float *scales = known.scale.data(), *betas = known.beta.data();
  std::vector<double> total(channels), products(channels);
  std::vector<float> slope_of(channels), offset_of(channels);
  auto all_sums = rows.make_sums();
  float *sums = all_sums.data(), *out = g_image->typed_data();
  // Sums of the normalized image's gradient, and of that times the centred image.
  pass<2>(pool, rows, [=](auto vectors, auto lanes, const Rows::Chunk& chunk, int64_t k) {
    const Part<vectors, lanes> mean(means + k), scale(scales + k), beta(betas + k);
    Floats<lanes> total[vectors] = {}, products[vectors] = {};
    for (int64_t row = 0, at = chunk.at + k; row < chunk.rows; ++row, at += chunk.width)
      for (int v = 0; v < vectors; ++v) {
        const Floats<lanes> centred = load<lanes>(x + at + v * lanes) - mean[v];
        const Floats<lanes> back = load<lanes>(g + at + v * lanes) *
                                   slope_of_silu<lanes>(centred, scale[v], beta[v]);
        total[v] += back;
        products[v] += back * centred;
      }
    float* to = sums + 2 * chunk.number * rows.width() + k;
    for (int v = 0; v < vectors; ++v) {
      store<lanes>(to + v * lanes, total[v]);
      store<lanes>(to + rows.width() + v * lanes, products[v]);
    }
  });
  rows.over_sums(all_sums, [&](double, const float* of_g, const float* of_products) {
    for (int64_t c = 0; c < channels; ++c) {
      total[c] += of_g[c];
      products[c] += of_products[c];
    }
  });
  for (int64_t c = 0; c < channels; ++c) {
    g_beta->typed_data()[c] = total[c];
    g_gamma->typed_data()[c] = products[c] *= known.inverse[c];
    offset_of[c] = total[c] / rows.rows;
    slope_of[c] = products[c] * known.inverse[c] / rows.rows;
  }
  const auto all_slopes = rows.repeated(slope_of.data());
  const auto all_offsets = rows.repeated(offset_of.data());
  const float *slopes = all_slopes.data(), *offsets = all_offsets.data();
  // To compute the derivative again takes less time than to read it from memory.
  pass<2>(pool, rows, [=](auto vectors, auto lanes, const Rows::Chunk& chunk, int64_t k) {
    const Part<vectors, lanes> mean(means + k), scale(scales + k), beta(betas + k);
    const Part<vectors, lanes> slope(slopes + k), offset(offsets + k);
    for (int64_t row = 0, at = chunk.at + k; row < chunk.rows; ++row, at += chunk.width)
      for (int v = 0; v < vectors; ++v) {
        const Floats<lanes> centred = load<lanes>(x + at + v * lanes) - mean[v];
        const Floats<lanes> back = load<lanes>(g + at + v * lanes) *
                                   slope_of_silu<lanes>(centred, scale[v], beta[v]);
        store<lanes>(out + at + v * lanes, scale[v] * (back - offset[v] - centred * slope[v]));
      }
  });
  return ffi::Error::Success();
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

ffi::Error convolution(ffi::ThreadPool pool, Images image, Images filters, Sizes stride,
                       Sizes dilation, Sizes pad, ffi::ResultBufferR4<ffi::F32> out) {
  const auto i = image.dimensions(), g = out->dimensions(), f = filters.dimensions();
  solve(pool, Convolution{{image.typed_data(), filters.typed_data(), out->typed_data(), i[0], i[3],
                           g[3], axis(0, i, g, f[0], stride, dilation, pad),
                           axis(1, i, g, f[1], stride, dilation, pad)}});
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

auto moments_binding() {
  return ffi::Ffi::Bind().Ctx<ffi::ThreadPool>().Arg<Image>().Arg<Values>().Attr<float>("epsilon")
      .Ret<Values>().Ret<Values>().Ret<Values>();
}

// Image, gamma, beta, mean, variance.
auto normalized_binding() {
  return ffi::Ffi::Bind().Ctx<ffi::ThreadPool>().Arg<Image>().Arg<Values>().Arg<Values>()
      .Arg<Values>().Arg<Values>();
}

}  // namespace

// What is called from Python has checked the shapes.
XLA_FFI_DEFINE_HANDLER_SYMBOL(pytensor_conv_grad_filters, grad_filters<GradFilters>, binding());
XLA_FFI_DEFINE_HANDLER_SYMBOL(pytensor_depthwise_grad_filters, grad_filters<DepthwiseGradFilters>,
                              binding());
XLA_FFI_DEFINE_HANDLER_SYMBOL(pytensor_conv_grad_image, grad_image, binding());
XLA_FFI_DEFINE_HANDLER_SYMBOL(pytensor_convolution, convolution, binding());
XLA_FFI_DEFINE_HANDLER_SYMBOL(pytensor_moments, moments, moments_binding());
XLA_FFI_DEFINE_HANDLER_SYMBOL(pytensor_normalize_silu, normalize_silu,
                              normalized_binding().Attr<float>("epsilon").Ret<Image>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(
    pytensor_grad_normalize_silu, normalize_silu_grad,
    normalized_binding().Arg<Image>().Attr<float>("epsilon").Ret<Image>().Ret<Values>()
        .Ret<Values>());
