-- Who asked: the same few again and again, so they are stored once.
CREATE TABLE actor (
  id         INTEGER PRIMARY KEY,
  user       TEXT NOT NULL,
  groups     TEXT NOT NULL,  -- JSON array
  service    TEXT NOT NULL,
  source_ip  TEXT NOT NULL,
  user_agent TEXT NOT NULL,
  crc        INTEGER NOT NULL
);
CREATE INDEX actor_by_content ON actor (user, groups, service, source_ip, user_agent);

-- A row per entry, accepted or refused.
CREATE TABLE entry (
  offset         INTEGER PRIMARY KEY,  -- in the journal
  id             BLOB NOT NULL,        -- 16 bytes
  time           INTEGER NOT NULL,     -- UTC milliseconds
  actor          INTEGER NOT NULL,
  verb           TEXT NOT NULL,
  path           TEXT NOT NULL,
  cause_revision INTEGER NOT NULL,
  cause_id       BLOB NOT NULL,        -- empty: no cause
  trace_id       TEXT NOT NULL,
  as_of          INTEGER NOT NULL,
  revision       INTEGER NOT NULL,     -- of the state afterwards; never falls from one entry to the next
  families       INTEGER NOT NULL,     -- one bit each
  events         TEXT NOT NULL,        -- JSON array of [kind, family, type, ns, name, summary]
  also           TEXT NOT NULL,        -- JSON array of [type, ns, name]: changed, though no event is about them
  refusal        TEXT,                 -- the error code; NULL: accepted
  reason         TEXT,
  duplicate      INTEGER NOT NULL,
  request        BLOB,                 -- request_key() of the produced request that this entry carries out
  record         TEXT,                 -- "TOPIC/PARTITION/OFFSET" of the produced request that this entry settles
  answer         TEXT,                 -- JSON [id, status, reason, message] of that request; status 0: carried out
  crc            INTEGER NOT NULL
);
CREATE INDEX entry_by_request ON entry (request) WHERE request IS NOT NULL;
CREATE INDEX entry_by_record ON entry (record) WHERE record IS NOT NULL;
CREATE INDEX entry_by_time ON entry (time);
-- What followed from an entry. By revision and not by id: causes are recent, so that rows are added near the end of the
-- index, while ids are random. The few entries of one revision are distinguished by cause_id.
CREATE INDEX entry_by_cause ON entry (cause_revision);

-- The objects that an entry is about without having a version to show for it (refused, denied, nothing changed, or the
-- version was trimmed). Entries that made a version are found through it. It only relates names to entries, as an index
-- does, so it has no checksums: the scrub compares it with the events of the entries.
CREATE TABLE subject (
  type    INTEGER NOT NULL,
  ns      TEXT NOT NULL,
  name    TEXT NOT NULL,
  offset  INTEGER NOT NULL,
  PRIMARY KEY (type, ns, name, offset)
) WITHOUT ROWID;
