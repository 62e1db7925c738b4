-- The objects there are now. Their JSON is that of their newest version (history), so that it is stored once.
CREATE TABLE object (
  type     INTEGER NOT NULL,
  ns       TEXT NOT NULL,     -- '' for cluster-scoped objects
  name     TEXT NOT NULL,
  revision INTEGER NOT NULL,  -- of the newest version
  PRIMARY KEY (type, ns, name)
) WITHOUT ROWID;
