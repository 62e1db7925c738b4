package main

import (
	"context"
	"strings"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/scheme"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

func newObject(version, kind, name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: object{"apiVersion": version, "kind": kind, "metadata": object{"name": name}}}
}

// stamps is a controller of a built-in kind with protobuf: each Deployment has a ConfigMap that contains its image, and an
// event.
type stamps struct {
	client.Client
	recorder record.EventRecorder
}

func (s stamps) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	deployment := &apps.Deployment{}
	if err := s.Get(ctx, request.NamespacedName, deployment); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	image := deployment.Spec.Template.Spec.Containers[0].Image
	stamp := &core.ConfigMap{ObjectMeta: meta.ObjectMeta{Namespace: request.Namespace, Name: "stamp-" + request.Name}}
	done, err := controllerutil.CreateOrUpdate(ctx, s.Client, stamp, func() error {
		stamp.Data = map[string]string{"image": image}
		return controllerutil.SetControllerReference(deployment, stamp, s.Scheme())
	})
	if err == nil && done != controllerutil.OperationResultNone {
		s.recorder.Eventf(deployment, core.EventTypeNormal, "Stamped", "the image is %s", image)
	}
	return ctrl.Result{}, err
}

// stamped: while the manager runs, a Deployment gets its stamp, which is deleted with it.
func (d *day) stamped() {
	deployments, maps := d.typed.AppsV1().Deployments(namespace), d.typed.CoreV1().ConfigMaps(namespace)
	made, err := deployments.Create(d.ctx, deployment("letter", 1), meta.CreateOptions{})
	must(err, "creating a deployment")
	hasStamp := func(image string) func() bool {
		return func() bool {
			stamp, err := maps.Get(d.ctx, "stamp-letter", meta.GetOptions{})
			return err == nil && stamp.Data["image"] == image
		}
	}
	eventually("the deployment has a stamp", hasStamp("nginx:1.27"))
	_, err = deployments.Patch(d.ctx, "letter", "application/strategic-merge-patch+json",
		[]byte(`{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"nginx:1.28"}]}}}}`), meta.PatchOptions{})
	must(err, "patching the image")
	eventually("the stamp follows", hasStamp("nginx:1.28"))
	eventually("an event of each is there", func() bool {
		list, err := d.typed.CoreV1().Events(namespace).List(d.ctx,
			meta.ListOptions{FieldSelector: "involvedObject.uid=" + string(made.UID) + ",reason=Stamped"})
		must(err, "listing events")
		return len(list.Items) == 2 && strings.HasPrefix(list.Items[0].Message, "the image is nginx:1.2")
	})
	must(deployments.Delete(d.ctx, "letter", meta.DeleteOptions{}), "deleting the deployment")
	eventually("the stamp is gone", func() bool {
		_, err := maps.Get(d.ctx, "stamp-letter", meta.GetOptions{})
		return apierrors.IsNotFound(err)
	})
}

// recorders: both of client-go's; a repeated event is counted, not stored twice.
func (d *day) recorders() {
	step("events of both recorders, for events.k8s.io and core, which are the same objects")
	about, err := d.typed.CoreV1().ConfigMaps(namespace).Create(d.ctx, configMap("subject", nil), meta.CreateOptions{})
	must(err, "creating a subject")
	about.SetGroupVersionKind(core.SchemeGroupVersion.WithKind("ConfigMap"))
	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: d.typed.EventsV1()})
	ctx, stop := context.WithCancel(d.ctx)
	defer stop()
	broadcaster.StartRecordingToSink(ctx.Done())
	broadcaster.NewRecorder(scheme.Scheme, "day").Eventf(about, nil, core.EventTypeWarning, "Seen", "Look", "it is %s", "there")
	old := record.NewBroadcaster()
	defer old.Shutdown()
	old.StartRecordingToSink(&typedcore.EventSinkImpl{Interface: d.typed.CoreV1().Events(namespace)})
	for i := 0; i < 2; i++ {
		old.NewRecorder(scheme.Scheme, core.EventSource{Component: "yesterday"}).Event(about, core.EventTypeNormal, "Heard", "it rings")
	}
	eventually("both events are in core/v1, one counted twice", func() bool {
		list, err := d.typed.CoreV1().Events(namespace).List(d.ctx, meta.ListOptions{
			FieldSelector: "involvedObject.kind=ConfigMap,involvedObject.name=subject"})
		must(err, "listing events")
		seen := map[string]int32{}
		for _, event := range list.Items {
			seen[event.Reason+"/"+event.Message] = event.Count
		}
		_, fresh := seen["Seen/it is there"]
		return len(list.Items) == 2 && fresh && seen["Heard/it rings"] == 2
	})
	list, err := d.typed.EventsV1().Events(namespace).List(d.ctx, meta.ListOptions{})
	must(err, "listing events of events.k8s.io")
	notes := map[string]string{}
	for _, event := range list.Items {
		notes[event.Note] = event.Regarding.Name
	}
	equal(notes["it rings"], "subject", "what the event of core is about, in events.k8s.io")
	equal(notes["it is there"], "subject", "what the event is about")
}
