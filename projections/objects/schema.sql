-- Every object there ever was, while history holds a version of it. An update does not touch this table: the newest
-- version is found through history's index of numbers, so that a stream of updates does not rewrite an index of names.
CREATE TABLE object (
  type INTEGER NOT NULL,
  ns   TEXT NOT NULL,     -- '' for cluster-scoped objects
  name TEXT NOT NULL,
  id   INTEGER NOT NULL,  -- the revision that first created it
  live INTEGER NOT NULL,  -- 0: removed
  crc  INTEGER NOT NULL,
  PRIMARY KEY (type, ns, name)
) WITHOUT ROWID;
