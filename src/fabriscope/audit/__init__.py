"""What is set on hosts and devices, where they differ, and what is wrong with it: pure functions of facts."""
