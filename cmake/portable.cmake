# The program and the C interface for systems other than this one: the same objects, linked with their own C++ runtime.
# What else they need of this system is put beside them by tools/build_wheel. libgcc_s stays the system's: it holds the
# one unwinder of a process, and GCC 12's static one asks for glibc 2.35.
set(portable ${CMAKE_BINARY_DIR}/portable)
add_executable(gpufathom_portable EXCLUDE_FROM_ALL src/main.cpp src/portable/arc4random.cpp)
target_link_libraries(gpufathom_portable PRIVATE gf_cli)
add_dependencies(gpufathom_portable gpufathom_inject)
target_link_options(gpufathom_portable PRIVATE -static-libstdc++ -s -Wl,--gc-sections -Wl,--as-needed)
set_target_properties(gpufathom_portable PROPERTIES OUTPUT_NAME gpufathom RUNTIME_OUTPUT_DIRECTORY ${portable}/bin)

add_library(gpufathom_c_portable SHARED EXCLUDE_FROM_ALL $<TARGET_OBJECTS:gf_capi> src/portable/arc4random.cpp)
target_link_libraries(gpufathom_c_portable PRIVATE gf_session)
target_link_options(gpufathom_c_portable PRIVATE -static-libstdc++ -s -Wl,--gc-sections -Wl,--as-needed
  "LINKER:--version-script=${CMAKE_SOURCE_DIR}/src/capi/exports.map")
set_target_properties(gpufathom_c_portable PROPERTIES OUTPUT_NAME gpufathom LIBRARY_OUTPUT_DIRECTORY ${portable}/lib)
