-- What services decided, whether or not the fold accepted it. Who, when and why stand in the entry.
CREATE TABLE decision (
  type        INTEGER NOT NULL,
  ns          TEXT NOT NULL,
  name        TEXT NOT NULL,
  offset      INTEGER NOT NULL,  -- offset of the entry
  event_index INTEGER NOT NULL,
  kind        TEXT NOT NULL,
  summary     TEXT NOT NULL,
  explanation TEXT NOT NULL      -- JSON
);
CREATE INDEX decision_by_subject ON decision (type, ns, name, offset, event_index);
