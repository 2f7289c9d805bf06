# The first answer of `./dev demo` comes before most of the program is compiled: the units that it needs are linked by
# themselves, without the archives that hold all of a room. Functions of these units that it does not call may need units that
# are not there: each has a section of its own, which the linker drops. A unit that is missed here is an error of the linker.
if(NOT GPUFATHOM_UNITY OR NOT CMAKE_BUILD_TYPE STREQUAL Release OR GPUFATHOM_SANITIZE OR GPUFATHOM_SANITIZE_THREADS)
  return()
endif()
set(several_captures "_src_analyze_(compare|ranks|claims|sweep)_")
set(other_forms "_gf_(report|session)_json_|_src_report_(claims|compare|csv|events|html|perfetto|query|ranks|sweep)_|report_page|src/report/")
list(JOIN GPUFATHOM_SMALL_FORMATS "|" formats)
string(REGEX REPLACE "nsight_compute|telemetry" "telemetry/[^t]" formats ${formats})  # logs have the rule of time zones
set(other_formats "_apart_|_src_import_(capture_file|nsight_systems|xplane)_|src/import/(importers|${formats})")
set(units)
foreach(room core model import analyze report session)
  list(APPEND units $<FILTER:$<TARGET_OBJECTS:gf_${room}>,EXCLUDE,${several_captures}|${other_forms}|${other_formats}>)
endforeach()
add_executable(gpufathom_first_answer tools/first_answer.cpp src/cli/terminal.cpp ${units})
target_include_directories(gpufathom_first_answer PRIVATE $<TARGET_PROPERTY:gf_session,INTERFACE_INCLUDE_DIRECTORIES>)
target_link_libraries(gpufathom_first_answer PRIVATE fmt::fmt Threads::Threads PkgConfig::SQLITE PkgConfig::ZSTD PkgConfig::ISAL
  PkgConfig::ZLIB simdjson::simdjson ${GPUFATHOM_IBERTY} ${CMAKE_DL_LIBS})
target_link_options(gpufathom_first_answer PRIVATE -Wl,--gc-sections)
set_target_properties(gpufathom_first_answer PROPERTIES EXCLUDE_FROM_ALL $<NOT:$<BOOL:${GPUFATHOM_TESTS}>>)
