-- What services decided, whether or not the fold accepted it. Who, when and why stand in the entry.
CREATE TABLE decision (
  id          INTEGER PRIMARY KEY,  -- offset of the entry << 20 | index of its event
  type        INTEGER NOT NULL,
  ns          TEXT NOT NULL,
  name        TEXT NOT NULL,
  kind        TEXT NOT NULL,
  summary     TEXT NOT NULL,
  explanation BLOB NOT NULL,        -- JSON; TEXT: as it is; BLOB: compressed, see events/sqlite/unpacked.h
  crc         INTEGER NOT NULL
);
CREATE INDEX decision_by_subject ON decision (type, ns, name);
