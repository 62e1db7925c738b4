package main

import (
	"context"
	"errors"
	"time"

	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v1"
	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	watchtools "k8s.io/client-go/tools/watch"
)

type object = map[string]interface{}

func reason(err error) meta.StatusReason {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return status.Status().Reason
	}
	return ""
}

func deployment(name string, replicas int32) *apps.Deployment {
	labels := map[string]string{"app": name}
	return &apps.Deployment{ObjectMeta: meta.ObjectMeta{Name: name, Labels: labels},
		Spec: apps.DeploymentSpec{Replicas: &replicas, Selector: &meta.LabelSelector{MatchLabels: labels},
			Template: core.PodTemplateSpec{ObjectMeta: meta.ObjectMeta{Labels: labels},
				Spec: core.PodSpec{Containers: []core.Container{{Name: "web", Image: "nginx:1.27"}}}}}}
}

func (d *day) rollout() {
	step("a Deployment that runs on a member is scaled by its subresource and watched")
	deployments := d.typed.AppsV1().Deployments(namespace)
	made, err := deployments.Create(d.ctx, deployment("web", 2), meta.CreateOptions{})
	must(err, "creating a deployment")
	equal(made.Spec.Strategy.Type, apps.RollingUpdateDeploymentStrategyType, "the default strategy")
	_, err = d.dynamic.Resource(schema.GroupVersionResource{Group: "policy.karmada.io", Version: "v1alpha1",
		Resource: "propagationpolicies"}).Namespace(namespace).Create(d.ctx, &unstructured.Unstructured{Object: object{
		"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy", "metadata": object{"name": "web"},
		"spec": object{
			"resourceSelectors": []interface{}{object{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}},
			"placement":         object{"clusterAffinity": object{"clusterNames": []interface{}{d.member}}}}}}, meta.CreateOptions{})
	must(err, "creating a propagation policy")
	runs := func(replicas int32) {
		list, err := deployments.List(d.ctx, meta.ListOptions{})
		must(err, "listing deployments")
		for _, item := range list.Items {
			if item.Status.ReadyReplicas == replicas && item.Status.ObservedGeneration >= item.Generation {
				return
			}
		}
		watcher, err := deployments.Watch(d.ctx, meta.ListOptions{ResourceVersion: list.ResourceVersion, AllowWatchBookmarks: true,
			FieldSelector: fields.OneTermEqualSelector("metadata.name", "web").String()})
		must(err, "watching deployments")
		ctx, cancel := context.WithTimeout(d.ctx, patience)
		defer cancel()
		_, err = watchtools.UntilWithoutRetry(ctx, watcher, func(event watch.Event) (bool, error) {
			web, ok := event.Object.(*apps.Deployment)
			return ok && event.Type != watch.Bookmark && web.Status.ReadyReplicas == replicas &&
				web.Status.ObservedGeneration >= web.Generation, nil
		})
		must(err, "waiting until the replicas are ready")
	}
	runs(2)
	scale, err := deployments.GetScale(d.ctx, "web", meta.GetOptions{})
	must(err, "getting the scale")
	equal(scale.Status.Selector, "app=web", "the selector of the scale")
	scaled := &autoscaling.Scale{ObjectMeta: scale.ObjectMeta, Spec: autoscaling.ScaleSpec{Replicas: 3}}
	_, err = deployments.UpdateScale(d.ctx, "web", scaled, meta.UpdateOptions{})
	must(err, "scaling")
	runs(3)
	must(deployments.Delete(d.ctx, "web", meta.DeleteOptions{}), "deleting the deployment")
	eventually("the deployment is gone", func() bool {
		_, err := deployments.Get(d.ctx, "web", meta.GetOptions{})
		return apierrors.IsNotFound(err)
	})
}

func definition(group string) *unstructured.Unstructured {
	text := object{"type": "string"}
	return &unstructured.Unstructured{Object: object{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": object{"name": "kites." + group},
		"spec": object{"group": group, "scope": "Namespaced",
			"names": object{"plural": "kites", "singular": "kite", "kind": "Kite", "listKind": "KiteList"},
			"versions": []interface{}{object{"name": "v1", "served": true, "storage": true,
				"subresources": object{"status": object{}},
				"schema": object{"openAPIV3Schema": object{"type": "object", "properties": object{
					"spec": object{"type": "object", "required": []interface{}{"size"}, "properties": object{
						"size":   object{"type": "integer", "minimum": int64(1)},
						"colour": object{"type": "string", "default": "red"}}},
					"status": object{"type": "object", "properties": object{"phase": text}}}}}}}}}}
}

var kites = schema.GroupVersionResource{Group: "go.example.com", Version: "v1", Resource: "kites"}

func kite(name string, size int64) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: object{"apiVersion": "go.example.com/v1", "kind": "Kite",
		"metadata": object{"name": name}, "spec": object{"size": size}}}
}

// definitions creates the definition and a kite for the controllers.
func (d *day) definitions() {
	step("a CustomResourceDefinition with the dynamic client, used immediately: defaults, validation, status, watch, apply")
	crds := d.dynamic.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1",
		Resource: "customresourcedefinitions"})
	_, err := crds.Create(d.ctx, definition("go.example.com"), meta.CreateOptions{})
	must(err, "creating the definition")
	client := d.dynamic.Resource(kites).Namespace(namespace)
	made, err := client.Create(d.ctx, kite("k", 3), meta.CreateOptions{})
	must(err, "creating a kite at once")
	colour, _, _ := unstructured.NestedString(made.Object, "spec", "colour")
	equal(colour, "red", "the default colour")
	_, err = client.Create(d.ctx, kite("flat", 0), meta.CreateOptions{})
	refused(err, apierrors.IsInvalid, "a kite of no size")
	watcher, err := client.Watch(d.ctx, meta.ListOptions{ResourceVersion: made.GetResourceVersion()})
	must(err, "watching kites")
	defer watcher.Stop()
	must(unstructured.SetNestedField(made.Object, "up", "status", "phase"), "setting the phase")
	_, err = client.UpdateStatus(d.ctx, made, meta.UpdateOptions{})
	must(err, "updating the status")
	select {
	case event := <-watcher.ResultChan():
		equal(event.Type, watch.Modified, "the event")
		phase, _, _ := unstructured.NestedString(event.Object.(*unstructured.Unstructured).Object, "status", "phase")
		equal(phase, "up", "the phase in the event")
	case <-time.After(patience):
		fail("the watch of kites has no event")
	}
	applied, err := client.Apply(d.ctx, "k", kite("k", 4), meta.ApplyOptions{FieldManager: "go", Force: true})
	must(err, "applying a kite")
	size, _, _ := unstructured.NestedInt64(applied.Object, "spec", "size")
	equal(size, int64(4), "the size that was applied")
}
