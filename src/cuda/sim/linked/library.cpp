/* library.cpp - the simulator inside of a program: it opens as the shared library that it is in other builds. */
extern "C" {
#include "devices/backend_abi.h"
#include "devices/device_engine.h"
#include "devices/user_kernel.h"
#include "system/linked_library.h"
#include "system/shared_library.h"

extern const lt_backend_abi lt_backend_abi_of_library;
extern const lt_user_kernels lt_user_kernels_of_library;
const lt_backend *lt_backend_open(const lt_core_services *services, char *reason, size_t n);
}

namespace {

const lt_linked_symbol symbols[] = {
    {LT_BACKEND_ABI, const_cast<lt_backend_abi *>(&lt_backend_abi_of_library)},
    {LT_BACKEND_OPEN, reinterpret_cast<void *>(lt_backend_open)},
    {LT_USER_KERNELS, const_cast<lt_user_kernels *>(&lt_user_kernels_of_library)},
    {nullptr, nullptr},
};

lt_linked_library simulator = {LT_PLUGIN_NAME("sim"), symbols, nullptr};

__attribute__((constructor)) void link_simulator() { lt_shared_link(&simulator); }

} // namespace
