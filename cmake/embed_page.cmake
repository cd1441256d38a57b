# cmake -DWEB=... -DNPM=... -DMISSING=... -DOUT=... -P embed_page.cmake: builds the page if it can, and writes it as a C++ source.
set(page ${WEB}/dist/index.html)

# npm ci where the list of packages has changed since; then the build. What fails leaves what was there.
function(build_page)
  file(LOCK ${WEB} DIRECTORY GUARD FUNCTION TIMEOUT 600)  # presets may build at the same time
  file(SHA256 ${WEB}/package-lock.json wanted)
  set(stamp ${WEB}/node_modules/.msvm_installed)
  set(installed "")
  if(EXISTS ${stamp})
    file(READ ${stamp} installed)
  endif()
  if(NOT installed STREQUAL wanted)
    execute_process(COMMAND ${NPM} ci --no-audit --no-fund WORKING_DIRECTORY ${WEB} RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
    if(NOT status EQUAL 0)
      message(WARNING "npm ci in ${WEB} failed, so the monitor's page isn't built anew:\n${text}")
      return()
    endif()
    file(WRITE ${stamp} ${wanted})
  endif()
  execute_process(COMMAND ${NPM} run build WORKING_DIRECTORY ${WEB} RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "npm run build in ${WEB} failed:\n${text}")
  endif()
endfunction()

if(NPM AND EXISTS ${WEB}/package-lock.json)
  build_page()
endif()
set(policy "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
if(NOT EXISTS ${page})
  set(page ${MISSING})
elseif(EXISTS ${WEB}/dist/csp.txt)
  file(READ ${WEB}/dist/csp.txt policy)
  string(STRIP "${policy}" policy)
endif()

file(READ ${page} bytes HEX)
string(LENGTH "${bytes}" size)
math(EXPR size "${size} / 2")
string(REGEX REPLACE "(................................................................................)" "\\1\"\n\"" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" bytes "${bytes}")
file(CONFIGURE OUTPUT ${OUT} @ONLY CONTENT [[#include "observe/monitor/page.h"

namespace msvm::observe {
namespace {
constexpr char kPage[] = "@bytes@";
}
std::string_view page_html() { return {kPage, @size@}; }
std::string_view page_policy() { return "@policy@"; }
}  // namespace msvm::observe
]])
