"""Which of two is better: from launch values to ratios, verdicts, ranges, crossovers and the words for them."""
