# Options and the settings that every part of Polyhalite is compiled with. Where Polyhalite is a
# subdirectory of another project, only what concerns its own folders is set.
option(POLYHALITE_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(POLYHALITE_APPS "Build the example applications, the demo and the benchmark"
       ${PROJECT_IS_TOP_LEVEL})
option(POLYHALITE_PYTHON "Build the Python package, where pybind11 is found"
       ${PROJECT_IS_TOP_LEVEL})
option(POLYHALITE_PCH "Use precompiled headers" ON)
set(POLYHALITE_BATCH 12 CACHE STRING "How many sources of a folder are compiled as one; 1: none")
set(POLYHALITE_SANITIZE "" CACHE STRING "Sanitizers, such as address,undefined")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(PROJECT_IS_TOP_LEVEL)
  if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release)
  endif()
  # Assertions stay on: tests rely on them and they cost little beside LLVM.
  set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1")
  set(CMAKE_C_FLAGS_RELEASE "-O2 -g1")
endif()

find_program(POLYHALITE_CCACHE ccache)
if(POLYHALITE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_CURRENT_LIST_DIR}/through_ccache.sh ${POLYHALITE_CCACHE})
  if(POLYHALITE_PCH AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  endif()
endif()

find_program(POLYHALITE_MOLD mold)
find_program(POLYHALITE_LLD NAMES ld.lld ld.lld-19)
if(POLYHALITE_MOLD)
  add_link_options(-fuse-ld=mold)
elseif(POLYHALITE_LLD)
  add_link_options(-fuse-ld=lld)
endif()

add_compile_options(-Wall -Wextra -Wno-unused-parameter)
if(POLYHALITE_SANITIZE)
  # -O2 takes twice as long on instrumented code and finds no more.
  add_compile_options(-O1 -fsanitize=${POLYHALITE_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${POLYHALITE_SANITIZE})
endif()
