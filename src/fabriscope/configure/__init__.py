"""What is typed to make devices and hosts ready for RoCE v2: what is missing, and no more. Nothing is sent to anything.

One file a system, `DIALECT`: how a setting is said there, what of it a saved configuration lacks, what proves it and
what undoes it. The audit's remedies are the same words. Pure functions of text and facts.
"""
