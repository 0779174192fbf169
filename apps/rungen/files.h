// Arrays in files, by the ending of the name: pictures (.png, .jpg, .bmp, .tga, .pgm, .ppm; as
// width, height, channels) and .npy of numpy (the last index innermost is dimension 0).
#pragma once

#include <string>

#include "apps/rungen/array.h"

namespace polyhalite::rungen {

/// Throws std::runtime_error that says what is wrong with the file.
Array read_file(const std::string &path);
void write_file(const std::string &path, Array &array);

/// Whether the file holds a picture, whose values are shades.
bool is_picture(const std::string &path);

}  // namespace polyhalite::rungen
