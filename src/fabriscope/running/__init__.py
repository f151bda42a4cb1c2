"""The only room that makes things happen: from a plan to a run folder, and what is asked of run folders."""
