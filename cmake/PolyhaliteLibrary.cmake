# polyhalite_object_library(NAME [DEPENDS target...] [SYSTEM dir...] [PRECOMPILE header...])
#
# One folder, one object library: every *.cc below the calling folder, without its runtime/ and
# main/, which become part of users' programs and not of the compiler. SYSTEM names include folders
# of others. Precompiled headers hold the standard library and what PRECOMPILE adds.
set(POLYHALITE_STD_HEADERS
    <algorithm> <array> <cstdint> <functional> <map> <memory> <optional> <set> <sstream> <string>
    <unordered_map> <utility> <variant> <vector>)

function(polyhalite_object_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPENDS;SYSTEM;PRECOMPILE")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} *.cc)
  list(FILTER sources EXCLUDE REGEX "^(runtime|main)/")
  if(NOT sources)
    add_library(${name} INTERFACE)
    return()
  endif()
  add_library(${name} OBJECT ${sources})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}
                                            ${PROJECT_SOURCE_DIR}/lang/include
                                            ${PROJECT_SOURCE_DIR}/lang/abi)
  target_include_directories(${name} SYSTEM PUBLIC ${arg_SYSTEM})
  target_link_libraries(${name} PUBLIC ${arg_DEPENDS})
  # Expressions of ours have no place of the user's, see ExprSite.
  target_compile_definitions(${name} PRIVATE POLYHALITE_LIBRARY)
  if(POLYHALITE_PCH)
    target_precompile_headers(${name} PRIVATE ${POLYHALITE_STD_HEADERS} ${arg_PRECOMPILE})
  endif()
  polyhalite_compile_in_batches(${name})
endfunction()

# polyhalite_compile_in_batches(TARGET)
#
# POLYHALITE_BATCH sources become one: what all of them instantiate is compiled once. Names in a
# file's unnamed namespace are thus its own in the whole folder.
function(polyhalite_compile_in_batches name)
  if(POLYHALITE_BATCH GREATER 1)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON
                                             UNITY_BUILD_BATCH_SIZE ${POLYHALITE_BATCH})
  endif()
endfunction()
