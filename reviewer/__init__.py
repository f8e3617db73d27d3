"""Packet, base tree and head tree in, verdict out. This room writes nothing."""
