"""Pure functions from samples to estimates, comparisons, verdicts and words; no input or output.

samples --launch_values--> one value a launch --estimates--> value and interval a case --summary--> the table
                                   +--comparisons--> ratio and verdict a size --ranges--> --findings--> sentences
"""
