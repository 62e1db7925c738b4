-- JSON that the versions of one object resemble: they are stored as the difference to it. A version that differs by too
-- much begins the next one. It stays as long as a version refers to it.
CREATE TABLE version_base (
  id     INTEGER PRIMARY KEY,  -- version.revision of the first version that refers to it, whose JSON it is
  object INTEGER NOT NULL,     -- object.id
  json   BLOB NOT NULL,        -- TEXT: as it is; BLOB: compressed, see events/sqlite/unpacked.h
  crc    INTEGER NOT NULL
);

-- Every version of every object. Revisions only grow, so new rows go to the end of the table.
CREATE TABLE version (
  revision    INTEGER PRIMARY KEY,
  object      INTEGER NOT NULL,  -- object.id
  type        INTEGER NOT NULL,
  ns          TEXT NOT NULL,
  name        TEXT NOT NULL,
  operation   INTEGER NOT NULL,  -- 0 created, 1 updated, 2 removed
  offset      INTEGER NOT NULL,  -- offset of the entry that made it
  event_index INTEGER NOT NULL,  -- which of its events; -1: a side effect of one about another object
  previous    INTEGER NOT NULL,  -- revision of the version before; 0: created
  base        INTEGER NOT NULL,  -- version_base.id; 0: none
  json        BLOB NOT NULL,     -- TEXT: as it is; BLOB: the difference to the base. Of a removal: the last state
  crc         INTEGER NOT NULL
);

-- Both are ordered by revision behind their column, as SQLite ends every index with the table's own key.
-- The versions of one object, and with them every object as of a revision.
CREATE INDEX version_by_object ON version (object);
-- The changes of one type after a revision, for watches.
CREATE INDEX version_by_type ON version (type);

-- Objects can be asked for as of this revision and later. One row.
CREATE TABLE retention (
  oldest INTEGER NOT NULL,
  crc    INTEGER NOT NULL
);
INSERT INTO retention VALUES (0, checksum(0));
