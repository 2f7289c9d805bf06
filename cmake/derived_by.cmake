# A number over all that answers come from, which capture files keep with what was worked out of them (src/session/kept.h). As a
# script it is the build's step that writes it.
if(CMAKE_SCRIPT_MODE_FILE)
  file(GLOB_RECURSE files ${ROOT}/src/core/* ${ROOT}/src/model/* ${ROOT}/src/import/* ${ROOT}/src/analyze/* ${ROOT}/src/session/*)
  foreach(each IN LISTS files)
    file(SHA256 ${each} hash)
    string(APPEND all "${hash} ")
  endforeach()
  string(SHA256 all "${all}${WITH}")
  string(SUBSTRING ${all} 0 32 all)
  file(WRITE ${OUTPUT} "#include \"session/kept.h\"\nstd::string_view gf::derived_by() { return \"${all}\"; }\n")
  return()
endif()
file(GLOB_RECURSE deriving CONFIGURE_DEPENDS src/core/* src/model/* src/import/* src/analyze/* src/session/*)
set(derived_by ${CMAKE_BINARY_DIR}/generated/session/derived_by.cpp)
add_custom_command(OUTPUT ${derived_by}
  COMMAND ${CMAKE_COMMAND} -DROOT=${CMAKE_SOURCE_DIR} -DOUTPUT=${derived_by}
    "-DWITH=${PROJECT_VERSION} ${CMAKE_SYSTEM_PROCESSOR} ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} ${CMAKE_BUILD_TYPE} ${CMAKE_CXX_FLAGS}"
    -P ${CMAKE_SOURCE_DIR}/cmake/derived_by.cmake
  DEPENDS ${deriving} ${CMAKE_SOURCE_DIR}/cmake/derived_by.cmake COMMENT "Numbering what answers come from" VERBATIM)
target_sources(gf_session PRIVATE ${derived_by})
