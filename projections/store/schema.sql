-- The last column of every table is the CRC-32C of the others, as in events/sqlite/row_checksum.h.

-- How far the file has come: exactly one row, written in the transaction of every batch.
CREATE TABLE checkpoint (
  fingerprint  TEXT NOT NULL,     -- of all schemas and the fold version: another one means another file
  next         INTEGER NOT NULL,  -- first journal offset not applied
  revision     INTEGER NOT NULL,
  time         INTEGER NOT NULL,  -- UTC milliseconds
  fold_version INTEGER NOT NULL,
  leases       TEXT NOT NULL,     -- JSON {service: {holder, epoch}}
  settled      TEXT NOT NULL DEFAULT '[]',  -- JSON [[topic, partition, done_before, [[first, last], ...]], ...]: produced requests
  hash         TEXT NOT NULL,     -- of the objects, 32 hexadecimal digits
  crc          INTEGER NOT NULL
);

-- Type names ("deployments.apps") as small numbers: they stand in every row and index.
CREATE TABLE type (
  id   INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  crc  INTEGER NOT NULL
);
