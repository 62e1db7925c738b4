-- The Merkle tree of the journal's records (events/proof). A leaf per record, in the order of the journal: the nth record
-- has ordinal n, whatever its offset. Leaves stay when the journal is trimmed, as proofs need them.
CREATE TABLE tree_leaf (
  ordinal INTEGER PRIMARY KEY,
  offset  INTEGER NOT NULL,  -- of the record in the journal; grows with the ordinal
  hash    BLOB NOT NULL,     -- 32 bytes
  crc     INTEGER NOT NULL
);
-- Complete subtrees of every fourth level above the leaves; those in between are computed.
CREATE TABLE tree_node (
  id   INTEGER PRIMARY KEY,  -- level << 56 | index
  hash BLOB NOT NULL,
  crc  INTEGER NOT NULL
);
