#pragma once

#include <cstdint>

namespace {

int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b > 0); }

}  // namespace
