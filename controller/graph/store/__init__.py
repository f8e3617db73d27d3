"""Graphs of trees on disk: what a tree shares with its neighbours is stored once, and read when it is asked for."""
