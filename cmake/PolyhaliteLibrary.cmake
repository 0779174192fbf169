# polyhalite_object_library(NAME [DEPENDS target...] [SYSTEM dir...] [PRECOMPILE header...]
#                           [ALONE source...])
#
# One folder, one object library: every *.cc below the calling folder, without its runtime/ and
# main/, which become part of users' programs and not of the compiler. SYSTEM names include folders
# of others. Precompiled headers hold the standard library and what PRECOMPILE adds. Sources in ALONE
# stay out of unity batches: their local names are also those of a neighbour.
set(POLYHALITE_STD_HEADERS
    <algorithm> <array> <cstdint> <functional> <map> <memory> <optional> <set> <sstream> <string>
    <unordered_map> <utility> <variant> <vector>)

function(polyhalite_object_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPENDS;SYSTEM;PRECOMPILE;ALONE")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} *.cc)
  list(FILTER sources EXCLUDE REGEX "^(runtime|main)/")
  if(NOT sources)
    add_library(${name} INTERFACE)
    return()
  endif()
  add_library(${name} OBJECT ${sources})
  set_source_files_properties(${arg_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}
                                            ${PROJECT_SOURCE_DIR}/lang/include
                                            ${PROJECT_SOURCE_DIR}/lang/abi)
  target_include_directories(${name} SYSTEM PUBLIC ${arg_SYSTEM})
  target_link_libraries(${name} PUBLIC ${arg_DEPENDS})
  if(POLYHALITE_PCH)
    target_precompile_headers(${name} PRIVATE ${POLYHALITE_STD_HEADERS} ${arg_PRECOMPILE})
  endif()
endfunction()
