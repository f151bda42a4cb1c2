// Many cases in little text: mpirun hands on no more than some 60 kB.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace fabriscope {

class CaseSeries {
 public:
  // The `key=value` words of each case that a line "cases" stands for. A key that the line leaves
  // out is as in the line before, an empty one is absent. Throws UsageError.
  std::vector<std::vector<std::string>> read(const std::vector<std::string>& words);

 private:
  std::map<std::string, std::string> remembered_;
};

}  // namespace fabriscope
