// RV32C: an instruction of 16 bits as the one of 32 bits that it stands for.
#pragma once

#include "operations.hpp"

namespace rlcc {

// 0, which is no instruction, where the half word is none or a float's.
u32 expanded(u32 half);

} // namespace rlcc
