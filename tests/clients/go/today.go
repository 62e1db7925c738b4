//go:build !earlier

// Tests that require the newest libraries (go.mod).
package main

import (
	"context"
	"net/http"
	"strings"
	"sync"

	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	applyapps "k8s.io/client-go/applyconfigurations/apps/v1"
	applyscale "k8s.io/client-go/applyconfigurations/autoscaling/v1"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
	applymeta "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/features"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metrics "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

func managerOptions() ctrl.Options {
	return ctrl.Options{Metrics: metrics.Options{BindAddress: "0"},
		Cache: cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}}}
}

// requestCounts counts the requests of a client by kind.
type requestCounts struct {
	sync.Mutex
	byKind map[string]int
}

func (h *requestCounts) note(kind string) {
	h.Lock()
	defer h.Unlock()
	h.byKind[kind]++
}

func (h *requestCounts) count(kind string) int {
	h.Lock()
	defer h.Unlock()
	return h.byKind[kind]
}

type listening struct {
	under http.RoundTripper
	note  func(*http.Request, *http.Response)
}

func (l listening) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := l.under.RoundTrip(request)
	if err == nil {
		l.note(request, response)
	}
	return response, err
}

// listsAreStreams: the config's informers list by a watch (KEP 3157) without falling back. Called after they have synced.
func (d *day) listsAreStreams(config *rest.Config) func() {
	sent := &requestCounts{byKind: map[string]int{}}
	config.Wrap(func(under http.RoundTripper) http.RoundTripper {
		return listening{under, func(request *http.Request, response *http.Response) {
			query := request.URL.Query()
			if query.Get("sendInitialEvents") == "true" && response.StatusCode == http.StatusOK {
				sent.note("stream")
			} else if query.Get("watch") == "" {
				sent.note("list")
			}
		}}
	})
	return func() {
		step("  (the informers have listed by streams)")
		equal(sent.count("stream"), 2, "the number of streaming lists")
		equal(sent.count("list"), 0, "the number of ordinary lists")
	}
}

func (d *day) today() {
	d.deploymentApplied()
	d.runtimeApplies()
	d.cborPreferred()
}

func (d *day) deploymentApplied() {
	step("a typed apply of a Deployment, and the owned fields")
	deployments := d.typed.AppsV1().Deployments(namespace)
	labels := map[string]string{"app": "applied"}
	container := applycore.Container().WithName("web").WithImage("nginx:1.27").
		WithPorts(applycore.ContainerPort().WithContainerPort(80))
	wanted := applyapps.Deployment("applied", namespace).WithSpec(applyapps.DeploymentSpec().WithReplicas(2).
		WithSelector(applymeta.LabelSelector().WithMatchLabels(labels)).
		WithTemplate(applycore.PodTemplateSpec().WithLabels(labels).WithSpec(applycore.PodSpec().WithContainers(container))))
	made, err := deployments.Apply(d.ctx, wanted, meta.ApplyOptions{FieldManager: "painter"})
	must(err, "applying a Deployment")
	equal(*made.Spec.Replicas, int32(2), "the replicas")
	owned, err := applyapps.ExtractDeployment(made, "painter")
	must(err, "reading what the painter owns")
	expect(owned.Spec != nil && *owned.Spec.Replicas == 2, "the painter's replicas are not in %v", owned.Spec)
	equal(*owned.Spec.Template.Spec.Containers[0].Image, "nginx:1.27", "the painter's image")
	expect(owned.Spec.ProgressDeadlineSeconds == nil, "a default is taken for the painter's")
	scaled, err := deployments.ApplyScale(d.ctx, "applied", applyscale.Scale().
		WithSpec(applyscale.ScaleSpec().WithReplicas(3)), meta.ApplyOptions{FieldManager: "scaler", Force: true})
	must(err, "applying the scale")
	equal(scaled.Spec.Replicas, int32(3), "the replicas of the scale")
	_, err = deployments.Apply(d.ctx, wanted, meta.ApplyOptions{FieldManager: "painter"})
	refused(err, apierrors.IsConflict, "taking the replicas back from who has scaled")
	must(deployments.Delete(d.ctx, "applied", meta.DeleteOptions{}), "deleting the Deployment")
}

func (d *day) runtimeApplies() {
	step("controller-runtime's client: typed and untyped objects, a patch, an apply, a list by label")
	direct, err := client.New(d.config, client.Options{})
	must(err, "making a client")
	in := client.InNamespace(namespace)
	shared := applycore.ConfigMap("runtime", namespace).WithLabels(map[string]string{"by": "runtime"}).
		WithData(map[string]string{"colour": "red"})
	must(direct.Apply(d.ctx, shared, client.FieldOwner("painter")), "applying")
	refused(direct.Apply(d.ctx, applycore.ConfigMap("runtime", namespace).WithData(map[string]string{"colour": "blue"}),
		client.FieldOwner("sculptor")), apierrors.IsConflict, "taking another's field")
	var held core.ConfigMap
	must(direct.Get(d.ctx, client.ObjectKey{Namespace: namespace, Name: "runtime"}, &held), "getting")
	before := held.DeepCopy()
	held.Data["size"] = "3"
	must(direct.Patch(d.ctx, &held, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})), "patching")
	stale := before.DeepCopy()
	stale.Data["size"] = "4"
	refused(direct.Patch(d.ctx, stale, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})),
		apierrors.IsConflict, "a patch of what has moved on")
	metadata := &meta.PartialObjectMetadataList{}
	metadata.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMapList"})
	must(direct.List(d.ctx, metadata, in, client.MatchingLabels{"by": "runtime"}), "listing metadata")
	equal(len(metadata.Items), 1, "the number of objects by label")
	must(direct.DeleteAllOf(d.ctx, &core.ConfigMap{}, in, client.MatchingLabels{"by": "runtime"}), "deleting all of a label")
}

type preferringCBOR struct{ features.Gates }

func (p preferringCBOR) Enabled(key features.Feature) bool {
	return key == features.ClientsAllowCBOR || key == features.ClientsPreferCBOR || p.Gates.Enabled(key)
}

// One request is refused; the client then uses JSON (except for apply requests, which do not fall back with any server).
func (d *day) cborPreferred() {
	step("a dynamic client that prefers CBOR falls back to JSON")
	usual := features.FeatureGates()
	features.ReplaceFeatureGates(preferringCBOR{usual})
	defer features.ReplaceFeatureGates(usual)
	sent := &requestCounts{byKind: map[string]int{}}
	config := rest.CopyConfig(d.config)
	config.Wrap(func(under http.RoundTripper) http.RoundTripper {
		return listening{under, func(request *http.Request, response *http.Response) {
			if strings.Contains(request.Header.Get("Accept"), "cbor") {
				sent.note("accepts")
			}
			if strings.Contains(request.Header.Get("Content-Type"), "cbor") && response.StatusCode == http.StatusUnsupportedMediaType {
				sent.note("refused")
			}
		}}
	})
	preferring, err := dynamic.NewForConfig(config)
	must(err, "making a dynamic client")
	maps := preferring.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace(namespace)
	list, err := maps.List(d.ctx, meta.ListOptions{})
	must(err, "a list that would rather be CBOR")
	expect(sent.count("accepts") == 1, "the client does not request CBOR")
	wanted := newObject("v1", "ConfigMap", "cbor")
	_, err = maps.Create(d.ctx, wanted, meta.CreateOptions{})
	refused(err, apierrors.IsUnsupportedMediaType, "a body in CBOR")
	equal(sent.count("refused"), 1, "how often CBOR was refused")
	_, err = maps.Create(d.ctx, wanted, meta.CreateOptions{})
	must(err, "the same again, in JSON by now")
	ctx, cancel := context.WithCancel(d.ctx)
	defer cancel()
	watcher, err := maps.Watch(ctx, meta.ListOptions{ResourceVersion: list.GetResourceVersion()})
	must(err, "a watch that would rather be CBOR")
	event := <-watcher.ResultChan()
	equal(string(event.Type), "ADDED", "the watch's first event")
	must(maps.Delete(d.ctx, "cbor", meta.DeleteOptions{}), "deleting")
	equal(sent.count("refused"), 1, "how often CBOR was refused in the end")
}
