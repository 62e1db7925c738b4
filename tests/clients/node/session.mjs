// A session with @kubernetes/client-node against the API server of $KUBECONFIG. Prints its checks, and ends with a message
// at the first one that fails. $MEMBER names a ready member, $CLIENT_MODULES the folder with the npm packages.
import assert from 'node:assert/strict';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const library = path.join(process.env.CLIENT_MODULES, 'node_modules/@kubernetes/client-node/dist/index.js');
const k8s = await import(pathToFileURL(library).href);

const namespace = 'node-day';
const patienceMs = 60_000;

const config = new k8s.KubeConfig();
config.loadFromDefault();
const core = config.makeApiClient(k8s.CoreV1Api);
const apps = config.makeApiClient(k8s.AppsV1Api);
const custom = config.makeApiClient(k8s.CustomObjectsApi);
const definitions = config.makeApiClient(k8s.ApiextensionsV1Api);
const anything = k8s.KubernetesObjectApi.makeApiClient(config);

const step = (text) => console.log('node: ' + text);

class Unexpected extends Error {}
const expect = (holds, message) => {
  if (!holds) throw new Unexpected(message);
};
const equal = (found, wanted, what) => {
  try {
    assert.deepEqual(found, wanted);
  } catch {
    expect(false, `${what} is ${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`);
  }
};

// The call must be refused with this code and reason; returns the message of its Status.
const refused = async (code, reason, call) => {
  let answer;
  try {
    answer = await call();
  } catch (error) {
    const status = typeof error.body === 'string' ? JSON.parse(error.body) : error.body;
    equal([error.code, status?.reason], [code, reason], `the refusal (${error.message})`);
    return status;
  }
  return expect(false, `it is not refused with ${reason}, the answer is ${JSON.stringify(answer)}`);
};

// Watches from a version until `holds` is true for an event; returns all events until then.
const watchUntil = async (what, where, query, holds) => {
  const events = [];
  let stop;
  let timer;
  try {
    await new Promise((resolve, reject) => {
      timer = setTimeout(() => reject(new Unexpected(`${what}: no event of it within ${patienceMs} ms`)), patienceMs);
      const seen = (type, object) => {
        if (type === 'BOOKMARK') return;
        events.push({ type, object });
        if (holds(type, object)) resolve();
      };
      const ended = (error) => reject(error ?? new Unexpected(`${what}: the watch has ended before`));
      new k8s.Watch(config).watch(where, query, seen, ended).then((controller) => (stop = controller), reject);
    });
  } finally {
    clearTimeout(timer);
    stop?.abort();
  }
  return events;
};

const eventually = async (what, holds) => {
  const deadline = Date.now() + patienceMs;
  while (!(await holds())) {
    expect(Date.now() < deadline, `${what}: not within ${patienceMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};
const isGone = async (call) => {
  try {
    await call();
    return false;
  } catch (error) {
    equal(error.code, 404, 'the status of what is gone');
    return true;
  }
};

const configMap = (name, data = { colour: 'red' }, metadata = {}) => ({ metadata: { name, ...metadata }, data });
const mapsPath = `/api/v1/namespaces/${namespace}/configmaps`;
const readMap = (name) => core.readNamespacedConfigMap({ name, namespace });

async function discovery() {
  step('version, groups, resources');
  equal((await config.makeApiClient(k8s.VersionApi).getCode()).major, '1', 'the major version');
  const groups = (await config.makeApiClient(k8s.ApisApi).getAPIVersions()).groups.map((group) => group.name);
  expect(groups.includes('apps') && groups.includes('policy.karmada.io'), `groups are missing in ${groups}`);
  const resources = (await core.getAPIResources()).resources;
  expect(resources.find((one) => one.name === 'configmaps').shortNames.includes('cm'), 'configmaps is not cm');
  await core.createNamespace({ body: { metadata: { name: namespace } } });
}

async function objects() {
  step('create, get, list, replace, conflict, pages, patches, dry run, delete');
  const made = await core.createNamespacedConfigMap({ namespace, body: configMap('one', undefined, { labels: { tier: 'front' } }) });
  expect(made.metadata.uid && made.metadata.creationTimestamp instanceof Date, 'a created object has no uid and time');
  for (const name of ['two', 'three']) {
    await core.createNamespacedConfigMap({ namespace, body: configMap(name, undefined, { labels: { tier: 'back' } }) });
  }
  const names = (list) => list.items.map((item) => item.metadata.name).sort();
  equal(names(await core.listNamespacedConfigMap({ namespace, labelSelector: 'tier=back' })), ['three', 'two'], 'the list');
  const seen = [];
  let token;
  do {
    const page = await core.listNamespacedConfigMap({ namespace, labelSelector: 'tier', limit: 2, _continue: token });
    seen.push(...names(page));
    token = page.metadata._continue;
  } while (token);
  equal(seen.sort(), ['one', 'three', 'two'], 'what the pages have');

  await core.replaceNamespacedConfigMap({ name: 'one', namespace, body: { ...made, data: { colour: 'blue' } } });
  await refused(409, 'Conflict', () => core.replaceNamespacedConfigMap({ name: 'one', namespace, body: { ...made, data: {} } }));
  await refused(409, 'AlreadyExists', () => core.createNamespacedConfigMap({ namespace, body: configMap('one') }));
  await refused(404, 'NotFound', () => readMap('none'));
  const invalid = await refused(422, 'Invalid', () => core.createNamespacedConfigMap({ namespace, body: configMap('Not A Name') }));
  equal(invalid.details.causes[0].field, 'metadata.name', 'the field of the refusal');

  const patch = (strategy, body) =>
    core.patchNamespacedConfigMap({ name: 'one', namespace, body }, k8s.setHeaderOptions('Content-Type', strategy));
  await patch(k8s.PatchStrategy.JsonPatch, [{ op: 'add', path: '/data/json', value: '1' }]);
  await patch(k8s.PatchStrategy.MergePatch, { data: { colour: null, merge: '1' } });
  await patch(k8s.PatchStrategy.StrategicMergePatch, { data: { strategic: '1' } });
  equal((await readMap('one')).data, { json: '1', merge: '1', strategic: '1' }, 'the data after three patches');

  await core.createNamespacedConfigMap({ namespace, body: configMap('dry'), dryRun: 'All' });
  await refused(404, 'NotFound', () => readMap('dry'));
  const secret = await core.createNamespacedSecret({
    namespace, body: { metadata: { generateName: 'key-' }, stringData: { password: 'hunter2' } } });
  equal(Buffer.from(secret.data.password, 'base64').toString(), 'hunter2', 'the password');
  equal((await core.deleteNamespacedSecret({ name: secret.metadata.name, namespace })).status, 'Success', 'the answer');
  await core.deleteCollectionNamespacedConfigMap({ namespace, labelSelector: 'tier=back' });
  equal(names(await core.listNamespacedConfigMap({ namespace, labelSelector: 'tier' })), ['one'], 'what is left');
}

async function watches() {
  step('a watch continues where the list ended; an informer caches the objects');
  const start = (await core.listNamespacedConfigMap({ namespace })).metadata.resourceVersion;
  await core.createNamespacedConfigMap({ namespace, body: configMap('seen') });
  await core.replaceNamespacedConfigMap({ name: 'seen', namespace, body: configMap('seen', { colour: 'blue' }) });
  await core.deleteNamespacedConfigMap({ name: 'seen', namespace });
  const events = await watchUntil('a deletion', mapsPath, { resourceVersion: start }, (type) => type === 'DELETED');
  equal(events.map((event) => `${event.type} ${event.object.metadata.name}`), ['ADDED seen', 'MODIFIED seen', 'DELETED seen'],
    'what the watch saw');

  const informer = k8s.makeInformer(config, mapsPath, () => core.listNamespacedConfigMap({ namespace }));
  const seenEvents = [];
  for (const verb of [k8s.ADD, k8s.UPDATE, k8s.DELETE]) informer.on(verb, (object) => seenEvents.push(`${verb} ${object.metadata.name}`));
  await informer.start();
  await core.createNamespacedConfigMap({ namespace, body: configMap('held') });
  await eventually('the informer adds', () => seenEvents.includes('add held'));
  equal(informer.get('held', namespace)?.data, { colour: 'red' }, 'what the informer holds');
  await core.deleteNamespacedConfigMap({ name: 'held', namespace });
  await eventually('the informer deletes', () => seenEvents.includes('delete held'));
  await informer.stop();
}

async function applies() {
  step('server-side apply, twice, by two managers: a conflict, force');
  const apply = (data, manager, force) =>
    anything.patch({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'shared', namespace }, data },
      undefined, undefined, manager, force, k8s.PatchStrategy.ServerSideApply);
  const first = await apply({ colour: 'red', size: '3' }, 'painter');
  const again = await apply({ colour: 'red', size: '3' }, 'painter');
  equal(again.metadata.resourceVersion, first.metadata.resourceVersion, 'the version after the same apply again');
  const conflict = await refused(409, 'Conflict', () => apply({ colour: 'blue' }, 'sculptor'));
  equal(conflict.details.causes[0].field, '.data.colour', 'the field of the conflict');
  equal((await apply({ colour: 'blue' }, 'sculptor', true)).data, { colour: 'blue', size: '3' }, 'the data after force');
  equal((await apply({}, 'painter')).data, { colour: 'blue' }, 'the data once the painter gave up its fields');
}

async function rollout() {
  step('a Deployment that runs on a member is scaled');
  const labels = { app: 'web' };
  await anything.create({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', namespace }, spec: {
    replicas: 2, selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'nginx:1.27' }] } } } });
  await custom.createNamespacedCustomObject({ group: 'policy.karmada.io', version: 'v1alpha1', namespace,
    plural: 'propagationpolicies', body: {
      apiVersion: 'policy.karmada.io/v1alpha1', kind: 'PropagationPolicy', metadata: { name: 'web' }, spec: {
        resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }],
        placement: { clusterAffinity: { clusterNames: [process.env.MEMBER] } } } } });
  const runs = (replicas) =>
    watchUntil(`${replicas} replicas are ready`, `/apis/apps/v1/namespaces/${namespace}/deployments`, {},
      (type, web) => web.status.readyReplicas === replicas && web.status.observedGeneration >= web.metadata.generation);
  await runs(2);
  const scale = await apps.readNamespacedDeploymentScale({ name: 'web', namespace });
  await apps.replaceNamespacedDeploymentScale({ name: 'web', namespace, body: { ...scale, spec: { replicas: 3 } } });
  await runs(3);
  await apps.deleteNamespacedDeployment({ name: 'web', namespace, propagationPolicy: 'Foreground' });
  await eventually('the deployment is gone', () => isGone(() => apps.readNamespacedDeployment({ name: 'web', namespace })));
}

async function cascades() {
  for (const policy of ['Background', 'Foreground', 'Orphan']) {
    step(`a delete with propagation ${policy}, and its effect on a dependent`);
    const owner = (await core.createNamespacedConfigMap({ namespace, body: configMap('owner-' + policy.toLowerCase()) })).metadata;
    const child = 'child-' + policy.toLowerCase();
    await core.createNamespacedConfigMap({ namespace, body: configMap(child, undefined, { ownerReferences: [
      { apiVersion: 'v1', kind: 'ConfigMap', name: owner.name, uid: owner.uid, blockOwnerDeletion: true }] }) });
    await core.deleteNamespacedConfigMap({ name: owner.name, namespace, propagationPolicy: policy });
    await eventually('the owner is gone', () => isGone(() => readMap(owner.name)));
    if (policy === 'Orphan') equal((await readMap(child)).metadata.ownerReferences, undefined, "the orphan's owners");
    else if (policy === 'Foreground') expect(await isGone(() => readMap(child)), 'the owner went before its dependent');
    else await eventually('the dependent is gone', () => isGone(() => readMap(child)));
  }
}

async function customObjects() {
  step('a CustomResourceDefinition, used immediately: defaults, validation, status, watch');
  await definitions.createCustomResourceDefinition({ body: {
    metadata: { name: 'kites.node.example.com' }, spec: { group: 'node.example.com', scope: 'Namespaced',
      names: { plural: 'kites', singular: 'kite', kind: 'Kite' },
      versions: [{ name: 'v1', served: true, storage: true, subresources: { status: {} }, schema: { openAPIV3Schema: {
        type: 'object', properties: {
          spec: { type: 'object', required: ['size'], properties: {
            size: { type: 'integer', minimum: 1 }, colour: { type: 'string', _default: 'red' } } },
          status: { type: 'object', properties: { phase: { type: 'string' } } } } } } }] } } });
  const where = { group: 'node.example.com', version: 'v1', namespace, plural: 'kites' };
  const kite = (name, size) => ({ apiVersion: 'node.example.com/v1', kind: 'Kite', metadata: { name }, spec: { size } });
  const made = await custom.createNamespacedCustomObject({ ...where, body: kite('k', 3) });
  equal(made.spec, { size: 3, colour: 'red' }, 'the spec, with its default');
  const invalid = await refused(422, 'Invalid', () => custom.createNamespacedCustomObject({ ...where, body: kite('flat', 0) }));
  equal(invalid.details.causes[0].field, 'spec.size', 'the field of the refusal');
  await custom.replaceNamespacedCustomObjectStatus({ ...where, name: 'k', body: { ...made, status: { phase: 'up' } } });
  const [event] = await watchUntil('a kite', `/apis/node.example.com/v1/namespaces/${namespace}/kites`, {}, () => true);
  equal([event.type, event.object.status.phase], ['ADDED', 'up'], 'the first event');
  equal((await anything.list('node.example.com/v1', 'Kite', namespace)).items.length, 1, 'the number of kites');
  await definitions.deleteCustomResourceDefinition({ name: 'kites.node.example.com' });
  await eventually('the kite is gone with its definition', () =>
    isGone(() => custom.getNamespacedCustomObject({ ...where, name: 'k' })));
}

async function theEnd() {
  step('the namespace is deleted with its content');
  await core.deleteNamespace({ name: namespace });
  await eventually('the namespace is gone', () => isGone(() => core.readNamespace({ name: namespace })));
}

try {
  for (const part of [discovery, objects, watches, applies, rollout, cascades, customObjects, theEnd]) await part();
  step('done');
  process.exit(0);
} catch (error) {
  console.log('node: NOT AS EXPECTED: ' + (error instanceof Unexpected ? error.message : error.stack));
  process.exit(1);
}
