-- The pod templates that each Deployment, StatefulSet and DaemonSet has had, numbered as `kubectl rollout history` shows
-- them: the highest number is the present template. spec.revisionHistoryLimit of them are kept, besides that one.
-- By number of the object and not by its name, so that the rows of new workloads, which are long, go to the end.
CREATE TABLE template_revision (
  object      INTEGER NOT NULL,  -- object.id
  number      INTEGER NOT NULL,  -- from 1; a template that comes back gets the next number
  generation  INTEGER NOT NULL,  -- metadata.generation of the workload when the template became the present one
  created     TEXT NOT NULL,     -- when the workload first had the template; RFC 3339
  hash        TEXT NOT NULL,     -- of the template, as in the names of ReplicaSets and ControllerRevisions
  template    TEXT NOT NULL,     -- spec.template as JSON
  annotations TEXT NOT NULL,     -- the user's annotations of the workload when it last had the template; JSON
  crc         INTEGER NOT NULL,
  PRIMARY KEY (object, number)
) WITHOUT ROWID;
