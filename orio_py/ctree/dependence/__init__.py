"""Which orders of the iterations of a nest keep its results: dependences, exact for affine nests."""
