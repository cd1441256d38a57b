# msvm_embed_page(TARGET): the page of web/ as a source of TARGET (observe/monitor/page.h). It is built where npm is there, taken as it is
# where web/dist/ holds one already, and else a short page says that it is missing.
function(msvm_embed_page target)
  set(web ${CMAKE_SOURCE_DIR}/web)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/monitor_page.cpp)
  set(missing ${CMAKE_SOURCE_DIR}/src/observe/monitor/no_page.html)
  file(GLOB_RECURSE web_sources CONFIGURE_DEPENDS ${web}/src/*)
  file(GLOB web_files CONFIGURE_DEPENDS ${web}/*.json ${web}/*.ts ${web}/*.html ${web}/*.js ${web}/*.mjs)
  find_program(MSVM_NPM npm)
  if(NOT MSVM_NPM)
    file(GLOB built CONFIGURE_DEPENDS ${web}/dist/index.html)
    list(APPEND web_files ${built})
  endif()
  add_custom_command(OUTPUT ${out} VERBATIM
    DEPENDS ${web_sources} ${web_files} ${missing} ${CMAKE_SOURCE_DIR}/cmake/embed_page.cmake
    COMMAND ${CMAKE_COMMAND} -DWEB=${web} -DNPM=${MSVM_NPM} -DMISSING=${missing} -DOUT=${out} -P ${CMAKE_SOURCE_DIR}/cmake/embed_page.cmake)
  target_sources(${target} PRIVATE ${out})
endfunction()
