# Places of `cmake --install`: the folders are GNU's, and -DCMAKE_INSTALL_LIBDIR=lib64 and its like move them.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)  # tests are no part of it
set(config ${CMAKE_INSTALL_LIBDIR}/cmake/gpufathom)
install(TARGETS gpufathom)
install(TARGETS gpufathom_c EXPORT gpufathom INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY share/energy share/ceilings DESTINATION ${CMAKE_INSTALL_DATADIR}/gpufathom)
# Measurements that `reproduce` compares with, by the lines of the table that names them.
file(STRINGS src/analyze/claims/shipped.def shipped REGEX "^GF_SHIPPED.*\"results")
foreach(line IN LISTS shipped)
  string(REGEX REPLACE ".*\"(results[^\"]*)\", \"([^\"]+)\".*" "\\1;\\2" shipped_file "${line}")
  list(GET shipped_file 0 folder)
  list(GET shipped_file 1 name)
  install(FILES docs/${folder}/${name} DESTINATION ${CMAKE_INSTALL_DATADIR}/gpufathom/${folder})
endforeach()
# Sources of the shipped energy model: runs of three of its six boards, and the counters of these.
file(GLOB energy_boards docs/results/energy/*-2026-11-21[def].points.jsonl.gz docs/results/energy/*-2026-11-21[de].kernels.ncu.csv.gz)
install(FILES ${energy_boards} DESTINATION ${CMAKE_INSTALL_DATADIR}/gpufathom/energy/boards)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# find_package(gpufathom), and pkg-config.
include(CMakePackageConfigHelpers)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/generated/gpufathom-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/generated/gpufathom-config-version.cmake DESTINATION ${config})
install(EXPORT gpufathom NAMESPACE gpufathom:: DESTINATION ${config} FILE gpufathom-config.cmake)
file(RELATIVE_PATH pc_to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_LIBDIR BASE_DIRECTORY "\${prefix}" OUTPUT_VARIABLE pc_lib)
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_INCLUDEDIR BASE_DIRECTORY "\${prefix}" OUTPUT_VARIABLE pc_include)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/gpufathom.pc @ONLY CONTENT [[
prefix=${pcfiledir}/@pc_to_prefix@
Name: gpufathom
Description: how well GPUs are used, from traces, counters and power logs
Version: @PROJECT_VERSION@
Libs: -L@pc_lib@ -lgpufathom
Cflags: -I@pc_include@
]])
install(FILES ${CMAKE_BINARY_DIR}/generated/gpufathom.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The program prints its man page and completions itself.
if(CMAKE_CROSSCOMPILING)
  message(WARNING "This machine does not run the program that is built, which prints its man page and completions: they are "
    "not installed. `gpufathom help man` and `gpufathom help completion bash|zsh|fish` print them.")
else()
  set(shell ${CMAKE_BINARY_DIR}/shell)
  add_custom_command(OUTPUT ${shell}/gpufathom.1 DEPENDS gpufathom VERBATIM
    COMMAND ${CMAKE_COMMAND} -E make_directory ${shell}
    COMMAND sh -c "\"$1\" help man >\"$2/gpufathom.1\" && \"$1\" help completion bash >\"$2/gpufathom\" && \"$1\" help completion zsh >\"$2/_gpufathom\" && \"$1\" help completion fish >\"$2/gpufathom.fish\""
      sh $<TARGET_FILE:gpufathom> ${shell})
  add_custom_target(gpufathom_shell ALL DEPENDS ${shell}/gpufathom.1)
  install(FILES ${shell}/gpufathom.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${shell}/gpufathom DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${shell}/_gpufathom DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
  install(FILES ${shell}/gpufathom.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
install(FILES share/systemd/gpufathom-monitor.service DESTINATION lib/systemd/system)  # systemd's own, wherever libraries lie

# The Python package goes where the prefix's own interpreter looks, which is known when it is installed.
set(GPUFATHOM_PYTHON_DIR "" CACHE STRING "folder of the Python package, below the prefix or absolute; empty asks the interpreter")
install(CODE "
  set(PYTHON_DIR [[${GPUFATHOM_PYTHON_DIR}]])
  set(SOURCE [[${CMAKE_SOURCE_DIR}/python/gpufathom]])
  set(BUILD [[${CMAKE_BINARY_DIR}]])
  set(BIN [[${CMAKE_INSTALL_BINDIR}]])
  set(LIB [[${CMAKE_INSTALL_LIBDIR}]])")
install(SCRIPT cmake/install_python.cmake)
