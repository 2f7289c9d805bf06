# The library that goes into recorded programs. It must run beside any other C++ runtime, so it brings its own and shows
# nothing but its entry points.
file(GLOB agent_sources CONFIGURE_DEPENDS src/collect/inject/agent/*.cpp)
add_library(gpufathom_inject MODULE ${agent_sources} src/collect/library.cpp)
target_include_directories(gpufathom_inject PRIVATE src)
target_include_directories(gpufathom_inject SYSTEM PRIVATE ${GPUFATHOM_CUDA_HEADERS})
target_compile_options(gpufathom_inject PRIVATE -fvisibility=hidden)
target_link_options(gpufathom_inject PRIVATE -static-libstdc++ -static-libgcc -Wl,-z,nodelete -Wl,--version-script=${CMAKE_SOURCE_DIR}/src/collect/inject/agent/exports.map)
target_link_libraries(gpufathom_inject PRIVATE Threads::Threads ${CMAKE_DL_LIBS})

# Programs are trained on systems older than this one, and what is compiled here needs this system's glibc. PyPI's zig
# compiles the library once more, for glibc 2.17 and newer, in place of the one above.
find_program(GPUFATHOM_ZIG zig HINTS ${CMAKE_SOURCE_DIR}/.cache/zig/ziglang NO_DEFAULT_PATH)
if(GPUFATHOM_ZIG AND NOT GPUFATHOM_SANITIZE AND NOT GPUFATHOM_FUZZ)
  add_custom_command(TARGET gpufathom_inject POST_BUILD VERBATIM COMMAND ${CMAKE_SOURCE_DIR}/tools/build_agent
    $<TARGET_FILE:gpufathom_inject> ${GPUFATHOM_CUDA_HEADERS} ${GPUFATHOM_ZIG} ${CMAKE_SYSTEM_PROCESSOR})
else()
  message(STATUS "The injected library will need this system's glibc or a newer one; ./dev setup fetches the compiler that builds it for older systems")
endif()
install(TARGETS gpufathom_inject LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/gpufathom)
