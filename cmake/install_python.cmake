# Run by `cmake --install`: the Python package, and in it a note of where program and library lie from there.
set(prefix ${CMAKE_INSTALL_PREFIX})
if(PYTHON_DIR STREQUAL "")
  find_program(python3 python3 PATHS ${prefix}/bin NO_DEFAULT_PATH)
  find_program(python3 python3)
  if(NOT python3)
    message(FATAL_ERROR "No python3 says where its packages belong: name the folder by -DGPUFATHOM_PYTHON_DIR=DIR")
  endif()
  # A folder of the interpreter's own below the prefix, else the one that an interpreter of this prefix would have.
  execute_process(COMMAND ${python3} -c [[
import os, site, sys, sysconfig
prefix = sys.argv[1]
own = [path for path in sys.path + site.getsitepackages() if path.endswith(("site-packages", "dist-packages"))]
inside = [path for path in own if os.path.relpath(path, prefix).startswith("lib")]
print((inside or [sysconfig.get_path("purelib", "posix_prefix", {"base": prefix})])[0])
print(bool(inside))
]] ${prefix} OUTPUT_VARIABLE said OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" ";" said "${said}")
  list(GET said 0 PYTHON_DIR)
  list(GET said 1 imported)
  if(NOT imported)
    message(STATUS "${python3} does not look into ${PYTHON_DIR}: PYTHONPATH=${PYTHON_DIR}, or -DGPUFATHOM_PYTHON_DIR=DIR")
  endif()
endif()
foreach(folder PYTHON_DIR BIN LIB)
  cmake_path(ABSOLUTE_PATH ${folder} BASE_DIRECTORY ${prefix} NORMALIZE)
endforeach()
set(package ${PYTHON_DIR}/gpufathom)
file(INSTALL DESTINATION ${PYTHON_DIR} TYPE DIRECTORY FILES ${SOURCE} PATTERN __pycache__ EXCLUDE PATTERN _native EXCLUDE)
foreach(folder BIN LIB)
  file(RELATIVE_PATH ${folder} ${package} ${${folder}})
endforeach()
set(note ${BUILD}/generated/_installed.json)
file(WRITE ${note} "{\"bin\": \"${BIN}\", \"lib\": \"${LIB}\"}\n")
file(INSTALL DESTINATION ${package} TYPE FILE FILES ${note})
