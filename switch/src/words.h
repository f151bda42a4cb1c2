// What stands on the command line and in requests: KEY=VALUE,KEY=VALUE. All throw
// std::invalid_argument with one sentence.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace fabriscope::lab {

using Words = std::map<std::string, std::string>;

Words read_words(const std::string& text);
// Returns a word and removes it; without a `fallback` it must be there.
std::string take(Words& words, const std::string& key, const char* fallback = nullptr);
// Digits and nothing else: no sign, no space, no other base.
std::int64_t read_number(const std::string& text, const std::string& key);
std::int64_t take_number(Words& words, const std::string& key, const char* fallback);
void refuse_rest(const Words& words);
void refuse_beyond(std::int64_t value, std::int64_t limit, const std::string& what);

}  // namespace fabriscope::lab
