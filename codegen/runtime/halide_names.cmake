# Gives the runtime's functions weak second names: those that HalideRuntime.h maps to them.
#   OBJECT: the runtime; NAMES: the header; OUTPUT: the object that is made; LINKER, NM, OBJCOPY
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND ${NM} --defined-only --extern-only --format=posix ${OBJECT}
                OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "\npolyhalite_[a-z0-9_]+ [TW] " symbols "\n${symbols}")
list(TRANSFORM symbols REPLACE "^.(.*) [TW] $" "\\1")
file(STRINGS ${NAMES} pairs REGEX "^#define halide_[a-z0-9_]+ polyhalite_[a-z0-9_]+$")
set(definitions "")
foreach(pair IN LISTS pairs)
  string(REGEX REPLACE "^#define (halide_[a-z0-9_]+) (polyhalite_[a-z0-9_]+)$" "\\1=\\2" pair "${pair}")
  string(REGEX REPLACE "^.*=" "" own "${pair}")
  if(own IN_LIST symbols)
    list(APPEND definitions --defsym=${pair})
  endif()
endforeach()
execute_process(COMMAND ${LINKER} -r -o ${OUTPUT} ${OBJECT} ${definitions}
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${OBJCOPY} --wildcard --weaken-symbol=halide_* ${OUTPUT}
                COMMAND_ERROR_IS_FATAL ANY)
