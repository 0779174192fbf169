#include <cstdio>

#include "HalideBuffer.h"
#ifndef HALIDE_NO_PNG
#include <png.h>
#endif
#ifndef HALIDE_NO_JPEG
#include <jpeglib.h>
#endif

int main() {
  const Halide::Runtime::Buffer<uint8_t, 2> picture(4, 2);
#ifndef HALIDE_NO_PNG
  if (png_access_version_number() == 0) return 1;
#endif
#ifndef HALIDE_NO_JPEG
  jpeg_error_mgr errors;
  if (jpeg_std_error(&errors) != &errors) return 1;
#endif
  return picture.number_of_elements() == 8 ? 0 : 1;
}
