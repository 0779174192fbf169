# Halide's targets and functions over Polyhalite's.
#   Halide::Halide, Halide::Generator, Halide::Runtime, Halide::RunGenMain
#   Halide::Tools, Halide::ImageIO   empty: the headers are the user's own copies
#   add_halide_generator, add_halide_library, add_halide_runtime
_polyhalite_cmake_target(Halide_CMAKE_TARGET)
set(Halide_HOST_TARGET ${Halide_CMAKE_TARGET})
if(NOT Halide_TARGET)
  _polyhalite_default_target(Halide_TARGET)
endif()

foreach(pair Halide=Halide Generator=Generator Runtime=Runtime RunGenMain=RunGenMain Tools=Halide
        ImageIO=Halide)
  string(REPLACE "=" ";" pair "${pair}")
  list(GET pair 0 theirs)
  list(GET pair 1 ours)
  if(TARGET Halide::${theirs} OR NOT TARGET Polyhalite::${ours})
    continue()
  endif()
  add_library(Halide::${theirs} INTERFACE IMPORTED GLOBAL)
  if(NOT theirs MATCHES "Tools|ImageIO")
    target_link_libraries(Halide::${theirs} INTERFACE Polyhalite::${ours})
  endif()
endforeach()
# Callers of compiled pipelines include HalideRuntime.h and HalideBuffer.h.
get_target_property(_halide_headers Polyhalite::Halide INTERFACE_INCLUDE_DIRECTORIES)
target_include_directories(Halide::Runtime INTERFACE "${_halide_headers}")

# Macros: the functions set their callers' variables.
macro(add_halide_generator name)
  # Words that are given stand behind and count.
  add_polyhalite_generator(${name} PACKAGE_NAME ${PROJECT_NAME}-halide_generators
    PACKAGE_NAMESPACE ${PROJECT_NAME}::halide_generators:: ${ARGN})
endmacro()

macro(add_halide_library)
  if("${ARGN}" MATCHES "(^|;)TARGETS(;|$)")
    add_polyhalite_library(${ARGV} _HALIDE_HEADERS)
  else()
    add_polyhalite_library(${ARGV} TARGETS ${Halide_TARGET} _HALIDE_HEADERS)
  endif()
endmacro()

function(add_halide_runtime)
  add_polyhalite_runtime(${ARGV})
endfunction()
