"""How well static features predict which variants are fast: programs, data, models, and what they are judged beside."""
