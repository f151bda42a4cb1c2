"""What a site compiles: from sources to commands, the compilers that are told, and what is kept of it."""
