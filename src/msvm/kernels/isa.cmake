# Files named *_avx2.cpp and *_avx512.cpp are compiled for that instruction set, *_fast.cpp for the baseline; all of them are
# optimised in every build type. Those of an instruction set hold nothing but loops over raw pointers in unnamed namespaces: an
# inline function of a header compiled there could be the copy that the linker keeps for everyone.
# (-Wno-maybe-uninitialized, -Wno-uninitialized: g++ 12 warns about its own AVX-512 headers.)
set(MSVM_FAST_FLAGS -O3 -fno-trapping-math -fno-math-errno -Wno-maybe-uninitialized)
file(GLOB MSVM_FAST_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/msvm/kernels/*_fast.cpp)
file(GLOB MSVM_AVX2_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/msvm/kernels/*_avx2.cpp)
file(GLOB MSVM_AVX512_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/msvm/kernels/*_avx512.cpp)
set_source_files_properties(${MSVM_FAST_SOURCES} PROPERTIES COMPILE_OPTIONS "${MSVM_FAST_FLAGS}")
set_source_files_properties(${MSVM_AVX2_SOURCES} PROPERTIES COMPILE_OPTIONS "${MSVM_FAST_FLAGS};-mavx2;-mfma;-mf16c")
set(MSVM_AVX512_FLAGS -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx2 -mfma -mf16c)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND MSVM_AVX512_FLAGS -mprefer-vector-width=512 -Wno-uninitialized)
endif()
set_source_files_properties(${MSVM_AVX512_SOURCES} PROPERTIES COMPILE_OPTIONS "${MSVM_FAST_FLAGS};${MSVM_AVX512_FLAGS}")
