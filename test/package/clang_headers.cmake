# Does clang, too, read every public header as C++17 without a warning?
#
#   cmake -DSOURCE=<the project> -DWORK=<a folder> -P clang_headers.cmake
find_program(clang NAMES clang++-19 clang++)
if(NOT clang)
  message("Skipped: there is no clang++-19 and no clang++")
  return()
endif()
file(GLOB headers RELATIVE ${SOURCE}/lang/include ${SOURCE}/lang/include/polyhalite/*.h)
set(text "")
foreach(header ${headers})
  string(APPEND text "#include \"${header}\"\n")
endforeach()
file(WRITE ${WORK}/headers.cc "${text}")
file(WRITE ${WORK}/halide.cc "#include \"Halide.h\"\n")
foreach(file headers halide)
  execute_process(
    COMMAND ${clang} -std=c++17 -fsyntax-only -Wall -Wextra -Werror -I${SOURCE}/lang/include
            -I${SOURCE}/lang/include/halide -I${SOURCE}/lang/abi ${WORK}/${file}.cc
    RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "clang does not read ${file}.cc")
  endif()
endforeach()
