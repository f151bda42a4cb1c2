// What a switch with priorities may be told, in words. All throw std::invalid_argument with one
// sentence.
#pragma once

#include "fabric_model.h"
#include "words.h"

namespace fabriscope::lab {

// Removes from `words` those that are of queues and priorities, and returns them.
Words take_qos(Words& words);

// Returns settings with those that are named; the others stay.
QosSettings with_qos(QosSettings qos, const Words& words);

// Returns settings in the words that change them, but for the map of DSCPs; ecn_min and ecn_max are
// `ecn`.
Words words_of(const QosSettings& qos);

// For a fabric as it would be then: what contradicts itself.
void refuse_contradictions(const FabricSettings& fabric);

}  // namespace fabriscope::lab
