"""Packet in, tree and report out: the agents and the attempt."""
