"""The demo: two models on one list, then three simple recommenders on ratings."""
