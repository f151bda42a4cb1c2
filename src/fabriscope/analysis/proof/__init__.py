"""What carried the bytes of a job: from the watches of its hosts to a verdict and its words (docs/transport.md)."""
