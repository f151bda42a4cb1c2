// What MG does at the points of a level, without a word to other ranks.
#pragma once

#include <vector>

#include "mg_level.h"

namespace fabriscope::npb {

// By distance: the point itself, its 6 nearest neighbours, and the 12 next ones.
struct SmootherWeights {
  double centre, faces, edges;
};

// residual = right side - A solution; the right side may be the residual itself.
void subtract_product(const Level& level, const std::vector<double>& right_side,
                      const std::vector<double>& solution, std::vector<double>& residual);
// solution += S residual.
void smooth(const Level& level, const SmootherWeights& weights, const std::vector<double>& residual,
            std::vector<double>& solution);
// The finer level's residual, averaged around each point of the coarser.
void restrict_residual(const Level& finer, Level& coarser);
// Adds to the finer level's solution the coarser's, at its points and between them; ghosts too.
void add_interpolated(const Level& coarser, Level& finer);
// Of this rank's points.
double sum_of_squares(const Level& level, const std::vector<double>& values);

}  // namespace fabriscope::npb
