"""Models that rank variants by their static features, before anything is compiled or run."""
