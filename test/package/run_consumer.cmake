# Builds and tests the outside project in consumer/.
#   cmake -DCONSUMER=... -DWORK=... [-DINSTALL_FROM=... | -DSOURCE=...] -P run_consumer.cmake
# INSTALL_FROM is a build folder that is installed to WORK/prefix first, SOURCE is Polyhalite's source
# for add_subdirectory.
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "failed: ${command}")
  endif()
endfunction()

if(INSTALL_FROM)
  file(REMOVE_RECURSE ${WORK})
  run(${CMAKE_COMMAND} --install ${INSTALL_FROM} --prefix ${WORK}/prefix)
  run(${WORK}/prefix/bin/polyhalite --version)
  list(APPEND CONFIGURE -DCMAKE_PREFIX_PATH=${WORK}/prefix)
endif()
if(SOURCE)
  # The whole library is compiled once more, to see that it is in such a project: quickly.
  list(APPEND CONFIGURE -DPOLYHALITE_SOURCE=${SOURCE} -DCMAKE_BUILD_TYPE=Debug
       -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DPOLYHALITE_BATCH=24)
endif()
run(${CMAKE_COMMAND} -G Ninja -S ${CONSUMER} -B ${WORK}/build -Wno-dev --log-level=WARNING
    ${CONFIGURE})
run(${CMAKE_COMMAND} --build ${WORK}/build --target all)
run(${CMAKE_CTEST_COMMAND} --test-dir ${WORK}/build --output-on-failure --no-tests=error)
