"""Noise: where (a boolean mask over tokens) times what (how hidden tokens are written), both pure and seeded."""
