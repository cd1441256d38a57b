# cmake -DROOT=... -DOUT=... -DFLAGS=... -P source_id.cmake: writes a C++ source that holds a hash of the core's sources and of the flags
# that they are compiled with.
file(GLOB_RECURSE sources RELATIVE ${ROOT} ${ROOT}/*.cpp ${ROOT}/*.h ${ROOT}/*.def ${ROOT}/*.inc)
list(FILTER sources EXCLUDE REGEX "_test\\.cpp$|/testing/")
list(SORT sources)
set(all "${FLAGS}")
foreach(source ${sources})
  file(SHA256 ${ROOT}/${source} hash)
  string(APPEND all "\n${source} ${hash}")
endforeach()
string(SHA256 id "${all}")
string(SUBSTRING ${id} 0 40 id)
file(CONFIGURE OUTPUT ${OUT} CONTENT "extern const char* const msvm_source_id;\nconst char* const msvm_source_id = \"${id}\";\n")
