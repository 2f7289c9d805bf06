# Content of the wheel, for systems other than this one, x86-64 or AArch64: the objects of the usual build, linked with
# their own C++ runtime for glibc 2.26 and newer (tools/link_portable). Python and the command line share one library, which
# halves the wheel. What else it needs of this system is put beside it by tools/build_wheel. libgcc_s stays the system's: it
# holds the one unwinder of a process.
set(portable ${CMAKE_BINARY_DIR}/portable)
add_library(gpufathom_c_portable SHARED EXCLUDE_FROM_ALL $<TARGET_OBJECTS:gf_capi> src/program.cpp
  src/portable/older_glibc.cpp src/portable/fmt.cpp)
target_link_libraries(gpufathom_c_portable PRIVATE gf_session gf_cli fmt::fmt)
target_link_options(gpufathom_c_portable PRIVATE "LINKER:--version-script=${CMAKE_SOURCE_DIR}/src/capi/exports.map")
set_target_properties(gpufathom_c_portable PROPERTIES OUTPUT_NAME gpufathom LIBRARY_OUTPUT_DIRECTORY ${portable}/lib)

add_executable(gpufathom_portable EXCLUDE_FROM_ALL src/main.cpp)
target_link_libraries(gpufathom_portable PRIVATE gpufathom_c_portable)
add_dependencies(gpufathom_portable gpufathom_inject)
set_target_properties(gpufathom_portable PROPERTIES OUTPUT_NAME gpufathom RUNTIME_OUTPUT_DIRECTORY ${portable}/bin
  BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN/../lib")

foreach(target gpufathom_portable gpufathom_c_portable)
  target_link_options(${target} PRIVATE -s -Wl,--gc-sections -Wl,--as-needed)
  set_target_properties(${target} PROPERTIES RULE_LAUNCH_LINK "${CMAKE_SOURCE_DIR}/tools/link_portable ${GPUFATHOM_ZIG}"
    LINK_DEPENDS ${CMAKE_SOURCE_DIR}/tools/link_portable)
endforeach()
