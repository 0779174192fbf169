# Halide's targets and functions over Polyhalite's.
#   Halide::Halide, Halide::Generator, Halide::Runtime, Halide::RunGenMain
#   Halide::Tools, Halide::ImageIO   for the user's own copies of Halide's tools (halide_benchmark.h,
#                                    halide_image_io.h...): the runtime's headers, and libpng and
#                                    libjpeg; the variable Halide_TOOLS_INCLUDE_DIR may name their
#                                    folder
#   Halide::ThreadPool             for the user's own copy of halide_thread_pool.h
#   Halide::Adams2019, Halide::Anderson2021, Halide::Li2018, Halide::Mullapudi2016
#                                    plugins, for AUTOSCHEDULER and PLUGINS: Polyhalite's own scheduler
#                                    answers to these names, so the plugin is the library itself
#   add_halide_generator, add_halide_library, add_halide_stub, add_halide_runtime
_polyhalite_cmake_target(Halide_CMAKE_TARGET)
set(Halide_HOST_TARGET ${Halide_CMAKE_TARGET})
if(NOT Halide_TARGET)
  _polyhalite_default_target(Halide_TARGET)
endif()
set(Halide_TOOLS_INCLUDE_DIR "" CACHE PATH "folder of halide_image_io.h, halide_benchmark.h...")

foreach(name Generator RunGenMain)
  if(TARGET Polyhalite::${name} AND NOT TARGET Halide::${name})
    add_library(Halide::${name} INTERFACE IMPORTED GLOBAL)
    target_link_libraries(Halide::${name} INTERFACE Polyhalite::${name})
  endif()
endforeach()
# Programs may have been compiled with Halide's own headers.
if(NOT TARGET Halide::Runtime)
  add_library(Halide::Runtime INTERFACE IMPORTED GLOBAL)
  target_link_libraries(Halide::Runtime INTERFACE Polyhalite::HalideRuntime)
endif()
# Generators that are linked by hand include Halide.h, too.
if(TARGET Halide::Generator AND TARGET Polyhalite::Halide)
  target_link_libraries(Halide::Generator INTERFACE Polyhalite::Halide)
endif()
# The library and the plugins are files, of which projects ask for the folder.
if(TARGET Polyhalite::Polyhalite)
  get_target_property(_halide_library Polyhalite::Polyhalite LOCATION)
  if(NOT TARGET Halide::Halide)
    add_library(Halide::Halide SHARED IMPORTED GLOBAL)
    set_target_properties(Halide::Halide PROPERTIES IMPORTED_LOCATION "${_halide_library}")
    target_link_libraries(Halide::Halide INTERFACE Polyhalite::Halide)
    # As Halide's own package says of a library that throws.
    target_compile_definitions(Halide::Halide INTERFACE HALIDE_WITH_EXCEPTIONS)
  endif()
  foreach(name Adams2019 Anderson2021 Li2018 Mullapudi2016)
    if(NOT TARGET Halide::${name})
      add_library(Halide::${name} MODULE IMPORTED GLOBAL)
      set_target_properties(Halide::${name} PROPERTIES IMPORTED_LOCATION "${_halide_library}")
    endif()
  endforeach()
endif()
# Callers of compiled pipelines include HalideRuntime.h and HalideBuffer.h.
get_target_property(_halide_headers Polyhalite::Halide INTERFACE_INCLUDE_DIRECTORIES)
get_target_property(_halide_runtime_headers Polyhalite::Runtime INTERFACE_INCLUDE_DIRECTORIES)
target_include_directories(Halide::Runtime INTERFACE "${_halide_headers}")

# Pipelines' headers declare no more than they need, and programs rely on Halide's names for that.
target_compile_definitions(Halide::Runtime INTERFACE
  halide_buffer_t=polyhalite_buffer_t halide_filter_metadata_t=polyhalite_filter_metadata_t)

# Headers only: programs of the compiler, which holds a runtime, use them as well.
if(NOT TARGET Halide::Tools)
  add_library(Halide::Tools INTERFACE IMPORTED GLOBAL)
  target_include_directories(Halide::Tools
    INTERFACE "${_halide_headers}" "${_halide_runtime_headers}" ${Halide_TOOLS_INCLUDE_DIR})
  add_library(Halide::ImageIO INTERFACE IMPORTED GLOBAL)
  target_link_libraries(Halide::ImageIO INTERFACE Halide::Tools)
  foreach(format PNG JPEG)
    if(TARGET ${format}::${format})
      target_link_libraries(Halide::ImageIO INTERFACE ${format}::${format})
    else()
      target_compile_definitions(Halide::ImageIO INTERFACE HALIDE_NO_${format})
    endif()
  endforeach()
endif()

if(NOT TARGET Halide::ThreadPool)
  add_library(Halide::ThreadPool INTERFACE IMPORTED GLOBAL)
  target_link_libraries(Halide::ThreadPool INTERFACE Halide::Tools Threads::Threads)
endif()

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

function(add_halide_stub)
  add_polyhalite_stub(${ARGV} _NAMED_BY_GENERATOR)
endfunction()

function(add_halide_runtime)
  add_polyhalite_runtime(${ARGV} _HALIDE_NAMES)
endfunction()
