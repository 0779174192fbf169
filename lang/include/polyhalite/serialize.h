// Pipelines as text: an algorithm with its schedule, its parameters' limits and estimates and the
// elements of its constant Buffers moves from one program to another. The format has a version.
#pragma once

#include <cstdint>
#include <istream>
#include <map>
#include <string>
#include <vector>

#include "polyhalite/pipeline.h"

namespace polyhalite {

/// CompileError where the file cannot be written. `params` gets the pipeline's inputs by
/// name.
void serialize_pipeline(const Pipeline &pipeline, std::vector<uint8_t> &data);
void serialize_pipeline(const Pipeline &pipeline, std::vector<uint8_t> &data,
                        std::map<std::string, Parameter> &params);
void serialize_pipeline(const Pipeline &pipeline, const std::string &filename);
void serialize_pipeline(const Pipeline &pipeline, const std::string &filename,
                        std::map<std::string, Parameter> &params);

/// Inputs of these names become the given ones, so that the program can set them; the others are
/// new. CompileError at NAME:LINE where the text is broken or cut off, and where a given input has
/// another type or number of dimensions.
Pipeline deserialize_pipeline(const std::string &filename,
                              const std::map<std::string, Parameter> &params = {});
Pipeline deserialize_pipeline(std::istream &in,
                              const std::map<std::string, Parameter> &params = {});
Pipeline deserialize_pipeline(const std::vector<uint8_t> &data,
                              const std::map<std::string, Parameter> &params = {});

/// New inputs for a pipeline, by name, to be set and handed to deserialize_pipeline.
std::map<std::string, Parameter> deserialize_parameters(const std::string &filename);
std::map<std::string, Parameter> deserialize_parameters(std::istream &in);
std::map<std::string, Parameter> deserialize_parameters(const std::vector<uint8_t> &data);

}  // namespace polyhalite
