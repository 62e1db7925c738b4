package main

import (
	"context"
	"time"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
)

const finalizer = "go.example.com/line"

func newKite() *unstructured.Unstructured {
	kite := &unstructured.Unstructured{}
	kite.SetGroupVersionKind(schema.GroupVersionKind{Group: "go.example.com", Version: "v1", Kind: "Kite"})
	return kite
}

// lines is a controller: each kite has a ConfigMap of its own, its line, and reports it in its status. A kite that is
// deleted deletes its line first.
type lines struct{ client.Client }

func (l lines) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	kite := newKite()
	if err := l.Get(ctx, request.NamespacedName, kite); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if kite.GetDeletionTimestamp() != nil {
		controllerutil.RemoveFinalizer(kite, finalizer)
		return ctrl.Result{}, client.IgnoreNotFound(l.Update(ctx, kite))
	}
	if controllerutil.AddFinalizer(kite, finalizer) {
		if err := l.Update(ctx, kite); err != nil {
			return ctrl.Result{}, err
		}
	}
	line := &core.ConfigMap{ObjectMeta: meta.ObjectMeta{Namespace: request.Namespace, Name: "line-" + request.Name}}
	if _, err := controllerutil.CreateOrUpdate(ctx, l.Client, line, func() error {
		line.Data = map[string]string{"of": request.Name}
		return controllerutil.SetControllerReference(kite, line, l.Scheme())
	}); err != nil {
		return ctrl.Result{}, err
	}
	if phase, _, _ := unstructured.NestedString(kite.Object, "status", "phase"); phase == "flying" {
		return ctrl.Result{}, nil
	}
	if err := unstructured.SetNestedField(kite.Object, "flying", "status", "phase"); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, l.Status().Update(ctx, kite)
}

func (d *day) controllers() {
	step("a controller-runtime manager with leader election: it restores owned objects, removes a finalizer, records events")
	log.SetLogger(zap.New())
	options := managerOptions()
	options.LeaderElection, options.LeaderElectionID = true, "lines.go.example.com"
	options.LeaderElectionNamespace, options.LeaderElectionReleaseOnCancel = namespace, true
	manager, err := ctrl.NewManager(d.config, options)
	must(err, "making a manager")
	must(ctrl.NewControllerManagedBy(manager).For(newKite()).Owns(&core.ConfigMap{}).Complete(lines{manager.GetClient()}),
		"making a controller")
	must(ctrl.NewControllerManagedBy(manager).For(&apps.Deployment{}).Complete(stamps{manager.GetClient(),
		manager.GetEventRecorderFor("stamps")}), "making a controller of Deployments")
	ctx, stop := context.WithCancel(d.ctx)
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()

	maps, client := d.typed.CoreV1().ConfigMaps(namespace), d.dynamic.Resource(kites).Namespace(namespace)
	there := func() bool {
		line, err := maps.Get(d.ctx, "line-k", meta.GetOptions{})
		return err == nil && line.DeletionTimestamp == nil && line.Data["of"] == "k" && len(line.OwnerReferences) == 1
	}
	eventually("the kite has a line", there)
	eventually("the kite flies", func() bool {
		kite, err := client.Get(d.ctx, "k", meta.GetOptions{})
		must(err, "getting the kite")
		phase, _, _ := unstructured.NestedString(kite.Object, "status", "phase")
		return phase == "flying"
	})
	must(maps.Delete(d.ctx, "line-k", meta.DeleteOptions{}), "cutting the line")
	eventually("the kite has a line again", there)
	must(client.Delete(d.ctx, "k", meta.DeleteOptions{}), "deleting the kite")
	eventually("the kite and its line are gone", func() bool {
		_, noKite := client.Get(d.ctx, "k", meta.GetOptions{})
		_, noLine := maps.Get(d.ctx, "line-k", meta.GetOptions{})
		return apierrors.IsNotFound(noKite) && apierrors.IsNotFound(noLine)
	})
	d.stamped()
	stop()
	select {
	case err := <-ended:
		must(err, "the manager's end")
	case <-time.After(patience):
		fail("the manager does not end")
	}
	crds := d.dynamic.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1",
		Resource: "customresourcedefinitions"})
	must(crds.Delete(d.ctx, "kites.go.example.com", meta.DeleteOptions{}), "deleting the definition")
}
