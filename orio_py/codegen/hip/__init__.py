"""HIP text: CUDA's, with the words of AMD's language and runtime."""
