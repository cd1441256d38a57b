# msvm_shipped(TARGET): a program or module of the wheel, which needs no library but those of the C and C++ runtime.
add_library(msvm_fmt OBJECT ${CMAKE_SOURCE_DIR}/cmake/fmt.cpp)
target_include_directories(msvm_fmt PRIVATE $<TARGET_PROPERTY:fmt::fmt,INTERFACE_INCLUDE_DIRECTORIES>)
target_link_libraries(msvm_fmt PRIVATE msvm_flags)

function(msvm_shipped target)
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:msvm_fmt>)
  # Symbols of what is linked in stay inside: the process may have libraries of the same names.
  target_link_options(${target} PRIVATE LINKER:--as-needed LINKER:--exclude-libs,ALL)
endfunction()
