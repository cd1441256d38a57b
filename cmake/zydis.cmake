# msvm_zydis: the decoder of x86 instructions behind disassembly. Distributions have it as a shared library only.
find_path(MSVM_ZYDIS_INCLUDE Zydis/Zydis.h)
find_library(MSVM_ZYDIS NAMES Zydis)
find_library(MSVM_ZYCORE NAMES Zycore)
if(NOT MSVM_ZYDIS_INCLUDE OR NOT MSVM_ZYDIS OR NOT MSVM_ZYCORE)
  message(FATAL_ERROR "Zydis 4 wasn't found. Install it: apt-get install libzydis-dev")
endif()
add_library(msvm_zydis INTERFACE)
target_include_directories(msvm_zydis SYSTEM INTERFACE ${MSVM_ZYDIS_INCLUDE})
# Zycore is what Zydis needs: named as well, so that a wheel's module finds it beside itself.
target_link_libraries(msvm_zydis INTERFACE ${MSVM_ZYDIS} -Wl,--push-state,--no-as-needed ${MSVM_ZYCORE} -Wl,--pop-state)
