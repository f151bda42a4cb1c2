#pragma once

namespace fabriscope {

constexpr char kEngineVersion[] = "0.1.0";
// Of the output's format; docs/engine-output.md says when it changes.
constexpr int kStreamVersion = 1;

}  // namespace fabriscope
